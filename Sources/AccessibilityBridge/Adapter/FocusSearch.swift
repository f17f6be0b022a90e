internal import DBus
internal import DBusTypes

/// Searches a window for its focused element, breadth first, all of one depth at once.
///
/// Not through AT-SPI's Collection, which makes GTK 3 programs write errors to their logs.
final class FocusSearch {
  /// The most elements that are looked at, and the most children of one of them that are.
  private static let limit = 2000
  private static let childLimit = 256
  private static let managesDescendants = ElementStates(rawValue: 1 << 31)

  private let bus: AccessibilityBus
  private let isOver: () -> Bool
  private let handler: (Outcome) -> Void
  private var seen: Set<ElementReference> = []
  /// Whether the program did not answer something in time.
  private var isIncomplete = false

  private init(_ bus: AccessibilityBus, _ isOver: @escaping () -> Bool, _ handler: @escaping (Outcome) -> Void) {
    (self.bus, self.isOver, self.handler) = (bus, isOver, handler)
  }

  /// What was found.
  enum Outcome {
    case found(ElementReference)
    /// Nothing has focus.
    case nothing
    /// Nothing was found, but the program did not answer everything in time.
    case noAnswer
  }

  /// Hands over the focused element in `window`; nothing if `isOver` meanwhile.
  static func find(
    in window: ElementReference, on bus: AccessibilityBus, isOver: @escaping () -> Bool,
    _ handler: @escaping (Outcome) -> Void
  ) {
    let search = FocusSearch(bus, isOver, handler)
    search.seen = [window]
    search.descend([window])
  }

  /// Looks at the children of `parents`.
  private func descend(_ parents: [ElementReference]) {
    guard !parents.isEmpty else { return handler(isIncomplete ? .noAnswer : .nothing) }
    let children = Box<[(Int, [ElementReference])]>([])
    let answers = Answers { [self] in
      guard !isOver() else { return }
      look(at: children.content.sorted { $0.0 < $1.0 }.flatMap(\.1))
    }
    for (index, parent) in parents.enumerated() {
      bus.ask(
        parent, "GetChildren",
        answers.expect { [self] answer in
          if case .failure(let error) = answer, error.name == .timeout { isIncomplete = true }
          guard case .success(let values) = answer, case .array(let found)? = values.first else { return }
          // Objects of another program are not this window's.
          let own = found.prefix(Self.childLimit).compactMap { ElementReference($0) }.filter {
            $0.application == parent.application && seen.count < Self.limit && seen.insert($0).inserted
          }
          children.content.append((index, own))
        })
    }
    answers.finish()
  }

  private func look(at elements: [ElementReference]) {
    let states = Box<[ElementReference: ElementStates]>([:])
    let answers = Answers { [self] in
      guard !isOver() else { return }
      if let focused = elements.first(where: { states.content[$0]?.contains(.focused) == true }) {
        return handler(.found(focused))
      }
      descend(elements.filter { states.content[$0].map { !$0.contains(Self.managesDescendants) } ?? false })
    }
    for element in elements {
      bus.ask(
        element, "GetState",
        answers.expect { [self] answer in
          if case .failure(let error) = answer, error.name == .timeout { isIncomplete = true }
          if case .success(let values) = answer { states.content[element] = ElementStates(values.first) }
        })
    }
    answers.finish()
  }
}
