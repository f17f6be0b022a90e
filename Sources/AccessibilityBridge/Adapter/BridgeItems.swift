internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// What has focus in elements whose parts do not tell it themselves.
extension Bridge {
  /// How many parts of a cell are looked at.
  private static let mostParts = 8
  /// How many selected items are looked at: GTK 3 has one in each column.
  private static let mostSelected: Int32 = 32

  /// A list tells which of its items is active: that has focus if it says so, too.
  ///
  /// GTK 3 tells of an item's focus in no other way, unless somebody has looked at the item before.
  func itemBecameActive(_ item: ElementReference) {
    guard tracker.window?.application == item.application, tracker.desired != item else { return }
    bus?.states(of: item) { [weak self] answer in
      guard let self, case .success(let states) = answer, states.contains(.focused) else { return }
      claim(.gained(item), item)
    }
  }

  /// Finds the item with focus of a list that has taken focus, of which that tells nothing then; nil if it has none, or (`isLate`)
  /// did not answer in time.
  func findItem(
    of list: ElementReference, on bus: ProgramBus, _ handler: @escaping (ElementReference?, _ isLate: Bool) -> Void
  ) {
    bus.get(list, AccessibilityNames.selection, "NSelectedChildren") { answer in
      guard case .success(.int32(let count)?) = answer else { return handler(nil, answer.isLate) }
      var (found, isLate): (ElementReference?, Bool) = (nil, false)
      let answers = Answers { handler(found, isLate) }
      // In Qt, each answer takes time for all that is selected: of more than that, only the first is asked for.
      for index in 0..<(count > Self.mostSelected ? 1 : max(count, 0)) {
        let end = answers.expect { (_: Void) in }
        bus.call(list, AccessibilityNames.selection, "GetSelectedChild", [.int32(index)]) { answer in
          isLate = isLate || answer.isLate
          guard let item = ElementReference((try? answer.get())?.first), item.application == list.application else {
            return end(())
          }
          bus.states(of: item) { answer in
            isLate = isLate || answer.isLate
            if (try? answer.get())?.contains(.focused) == true { found = found ?? item }
            end(())
          }
        }
      }
      answers.finish()
    }
  }

  /// Finds the combo box that an element may be the button of, two levels above it; nil if there is no such box, or (`isLate`) its
  /// program did not answer in time.
  func findComboBox(
    of button: ElementReference, on bus: ProgramBus, _ handler: @escaping (ElementReference?, _ isLate: Bool) -> Void
  ) {
    bus.parent(of: button) { answer in
      guard case .success(let box?) = answer else { return handler(nil, answer.isLate) }
      bus.parent(of: box) { answer in
        // Another program's has nothing to do with this one's focus.
        guard case .success(let comboBox?) = answer, comboBox.application == button.application else {
          return handler(nil, answer.isLate)
        }
        bus.role(of: comboBox) { answer in
          let isComboBox = (try? answer.get()).map { ElementRole(rawValue: $0) } == .comboBox
          handler(isComboBox ? comboBox : nil, answer.isLate)
        }
      }
    }
  }

  /// Finds the part of a cell that has a name, which is its text; nil if no part has one, or if the program did not answer in time
  /// (`isLate`).
  func findText(
    of cell: ElementReference, on bus: ProgramBus, _ handler: @escaping (ElementReference?, _ isLate: Bool) -> Void
  ) {
    bus.children(of: cell, atMost: Self.mostParts) { answer in
      let parts = (try? answer.get()) ?? []
      var names: [ElementReference: String] = [:]
      let answers = Answers { handler(parts.first { names[$0]?.isEmpty == false }, answer.isLate) }
      for part in parts where part.application == cell.application {
        bus.get(
          part, AccessibilityNames.accessible, "Name",
          answers.expect { (answer: Result<DBusValue?, DBusError>) in
            if case .success(.string(let name)?) = answer { names[part] = name }
          })
      }
      answers.finish()
    }
  }
}
