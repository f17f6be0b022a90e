"""A window of Qt 5."""

from PyQt5.QtCore import Qt
from PyQt5.QtWidgets import QApplication, QCheckBox, QLineEdit, QPushButton, QSlider, QVBoxLayout, QWidget

application = QApplication(["controls"])
window = QWidget()
window.setWindowTitle("Controls")
layout = QVBoxLayout(window)
password = QLineEdit("correct-horse-battery")
password.setEchoMode(QLineEdit.Password)
for widget in [QLineEdit("abc"), password, QSlider(Qt.Horizontal), QCheckBox("Check"), QPushButton("Push")]:
    layout.addWidget(widget)
window.show()
application.exec_()
