internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// The titles of windows.
extension Bridge {
  /// The title of a window; of one without, such as a menu, that of the window in front.
  func title(of window: ElementReference, _ handler: @escaping (WindowTitle) -> Void) {
    guard let bus else { return handler(WindowTitle()) }
    bus.get(window, AccessibilityNames.accessible, "Name") { [weak self] result in
      var title = WindowTitle()
      switch result {
      case .success(.string(let told)?):
        let text = ElementValues.kept(told)
        // One that it gets later is told.
        self?.applications[window.application]?.noteTitle(text, of: window)
        title.text = text.isEmpty ? nil : text
      case .success: break
      case .failure(let error): title.isLate = error.isLate
      }
      guard title.text == nil, !title.isLate, let self, let front = tracker.window, front != window,
        front.application == window.application
      else { return handler(title) }
      self.title(of: front, handler)
    }
  }

  func readTitleLater(_ window: ElementReference) {
    changedTitles.insert(window)
    readLater()
  }

  func readTitle(_ window: ElementReference, attempt: Int = 0) {
    title(of: window) { [weak self] title in
      guard let self, let application = applications[window.application] else { return }
      if title.isLate {
        return askAgain(.title(window), of: application, attempt) { [weak self] in
          self?.readTitle(window, attempt: attempt + 1)
        }
      }
      guard let title = title.text else { return }
      for field in application.fields.values where field.window == window {
        var place = field.place
        place.title = title
        publish(field.snapshot, at: place, in: field)
      }
    }
  }
}

/// What a window tells of its title.
struct WindowTitle {
  /// Nil: it has none.
  var text: String?
  /// Whether its program did not answer in time.
  var isLate = false
}
