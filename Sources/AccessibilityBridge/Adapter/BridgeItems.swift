internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Which item has focus in a list that manages its items itself: GTK 3 tells of an item's focus only if somebody has looked at
/// it before, and else which one is active.
extension Bridge {
  /// A list tells which of its items is active: that has focus if it says so, too.
  func itemBecameActive(_ item: ElementReference) {
    guard tracker.window?.application == item.application, tracker.desired != item else { return }
    bus?.states(of: item) { [weak self] answer in
      guard let self, case .success(let states) = answer, states.contains(.focused) else { return }
      claim(.gained(item), item)
    }
  }

  /// Asks a list that has taken focus for its item, of which it has told nothing then.
  func findItem(of list: ElementField) {
    guard list.snapshot.states.contains(.managesDescendants),
      applications[list.element.application]?.toolkit.isQt == false
    else { return }
    bus?.call(list.element, AccessibilityNames.selection, "GetSelectedChild", [.int32(0)]) { [weak self] answer in
      guard let self, shown === list, case .success(let values) = answer, let item = ElementReference(values.first)
      else {
        return
      }
      itemBecameActive(item)
    }
  }
}
