internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Windows that no event tells of: those that were there before the bridge, or came back too soon.
extension Bridge {
  func findWindows() {
    bus?.call(AccessibilityNames.registry, AccessibilityNames.root, AccessibilityNames.accessible, "GetChildren") {
      [weak self] answer in
      guard let self, case .success(let values) = answer, case .array(let children)? = values.first else { return }
      for child in children.prefix(256) {
        guard let child = ElementReference(child), child.application.isUnique else { continue }
        lookAt(application(child.application))
      }
    }
  }

  /// Looks for a window in front, as long as none is known.
  func lookAt(_ application: Application) {
    guard let bus, tracker.window == nil else { return }
    guard case .known = application.stage else {
      application.ask(bus, ignored: ignored) { [weak self] in
        guard let self else { return }
        if case .known = application.stage { lookAt(application) }
        settle()
      }
      return
    }
    bus.ask(application.root, "GetChildren") { [weak self] answer in
      guard case .success(let values) = answer, case .array(let windows)? = values.first else { return }
      for window in windows.prefix(64).compactMap({ ElementReference($0) }) { self?.lookAt(window) }
    }
  }

  /// Looks at the windows that are known: Qt tells nothing of one that was left for less than a tenth of a second.
  func lookAgain() {
    for window in Set(kept.compactMap(\.window)) { lookAt(window) }
  }

  private func lookAt(_ window: ElementReference) {
    bus?.ask(window, "GetState") { [weak self] answer in
      guard let self, tracker.window == nil, case .success(let values) = answer,
        ElementStates(values.first)?.contains(.active) == true
      else { return }
      take(.activated(window))
    }
  }
}
