#!/usr/bin/python3
"""A text entry and a slider of Qt 6 as fields of focusd; needs python3-pyqt6 and python3-gi.

While one of them has focus, `focusctl get Text.Content` or `focusctl run Range.Increment` reads or changes it.
"""
import sys

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication, QLineEdit, QSlider, QVBoxLayout, QWidget

import focusd_qt

application = QApplication(sys.argv)
window = QWidget(windowTitle="Qt 6")
entry, slider = QLineEdit("good morning"), QSlider(Qt.Orientation.Horizontal, maximum=100, value=50, singleStep=10)
layout = QVBoxLayout(window)
for widget in (entry, slider):
    layout.addWidget(widget)
focusd_qt.line_edit(entry, "note")
focusd_qt.range(slider, "volume", unit=0.01)
window.show()
sys.exit(application.exec())
