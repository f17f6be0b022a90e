import CGTK
import FocusKit
import Observation

/// A text entry and a slider in a window; the widgets' focus is the fields' focus.
@MainActor final class Panel {
  enum Control: Hashable, Sendable { case text, volume }

  private let window = made(gtk_window_new())
  private let entry = made(gtk_entry_new())
  private let scale = made(gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 1, 0.05))
  // What the widgets show, for readers on any thread.
  private let text = State(wrappedValue: "")
  private let volume = State(wrappedValue: 0.0)
  private let focus = FocusState<Control?>()
  private(set) var fields: [FocusField] = []

  init(_ name: String, onClose: @escaping @MainActor @Sendable () -> Void) {
    let box = made(gtk_box_new(GTK_ORIENTATION_VERTICAL, 12))
    for widget in [entry, scale] { gtk_box_append(box.cast(), widget) }
    gtk_window_set_title(window.cast(), name)
    gtk_window_set_default_size(window.cast(), 400, 100)
    gtk_window_set_child(window.cast(), box)
    connect(entry, "changed") { [unowned self] in
      text.wrappedValue = gtk_editable_get_text(OpaquePointer(entry)).map { String(cString: $0) } ?? ""
    }
    connect(scale, "value-changed") { [unowned self] in volume.wrappedValue = gtk_range_get_value(scale.cast()) }
    // snippet: signals
    connect(window, "notify::is-active") { [unowned self] in focusMoved() }
    connect(window, "notify::focus-widget") { [unowned self] in
      // A widget may take GTK's focus before its window comes to the front.
      if isActive { focusMoved() }
    }
    // end
    connect(window, "close-request", onClose)
    publish(name)
    followFocus()
    gtk_window_present(window.cast())
  }

  private func publish(_ name: String) {
    let parent = FocusField(name, label: name).register()
    let text = FocusField("\(name)_text", label: "Text", parent: parent)
      .focusedValue(\.element.role, .textBox)
      .focusedValue(\.text.content, Binding(get: { self.text.wrappedValue }, set: { self.show($0) }))
      .focused(focus.projectedValue, equals: .text)
      .register()
    // snippet: field
    let volume = FocusField("\(name)_volume", label: "Volume", parent: parent)
      .focusedValue(\.element.role, .slider)
      .focusedValue(
        \.range.value, Binding(get: { self.volume.wrappedValue }, set: { gtk_range_set_value(self.scale.cast(), $0) })
      ) { volume in
        guard volume.isFinite else { throw FocusError("the volume must be from 0 to 1, not \(volume)") }
      }
      .focusedValue(\.range.minimum, 0)
      .focusedValue(\.range.maximum, 1)
      .focusedValue(\.range.step, 0.05)
      .focusedValue(\.range.increment) { await onMainLoop { self.step(by: 0.05) } }
      .focusedValue(\.range.decrement) { await onMainLoop { self.step(by: -0.05) } }
      .focused(focus.projectedValue, equals: .volume)
      .register()
    // end
    fields = [parent, text, volume]
  }

  private func show(_ text: String) { gtk_editable_set_text(OpaquePointer(entry), text) }

  private func step(by step: Double) { gtk_range_set_value(scale.cast(), gtk_range_get_value(scale.cast()) + step) }

  // MARK: Focus

  // snippet: focus
  private var isActive: Bool { gtk_window_is_active(window.cast()) != 0 }

  /// The control that has GTK's focus while the window is in front, or nil.
  private var focusedControl: Control? {
    guard isActive, let widget = gtk_window_get_focus(window.cast()) else { return nil }
    // An entry's focus is in the text within it.
    if widget == entry || gtk_widget_is_ancestor(widget, entry) != 0 { return .text }
    return widget == scale ? .volume : nil
  }

  /// GTK's focus has moved, or the window came to the front or left it: the fields follow.
  private func focusMoved() {
    let control = focusedControl
    if focus.wrappedValue != control { focus.wrappedValue = control }
  }
  // end

  // snippet: requests
  /// GTK's focus follows the fields' when another program moves that.
  private func followFocus() {
    let focus = focus
    Task.detached { [weak self] in
      for await _ in Observations({ focus.wrappedValue }) {
        later { self?.takeFocus() }
      }
    }
  }

  private func takeFocus() {
    guard let control = focus.wrappedValue, control != focusedControl else { return }
    gtk_widget_grab_focus(control == .text ? entry : scale)
    gtk_window_present(window.cast())
  }
  // end
}
