internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Searches a window for its focused element, breadth first, all of one depth at once.
///
/// Not through AT-SPI's Collection, which makes GTK 3 programs write errors to their logs.
final class FocusSearch {
  /// The most elements that are looked at, and the most children of one of them that are.
  private static let limit = 2000
  private static let childLimit = 256
  /// The most elements that say that they have focus whose roles are asked for.
  private static let mostCandidates = 8

  /// Which elements with focus are found: others than the one that has it may say that they do, too.
  enum Target {
    case any
    /// The first that can be edited, else the first that does not only pass it on, else the first.
    case editableFirst
    /// The first that can be edited, else one as deep as there is.
    case deepest
  }

  private let bus: ProgramBus
  private let target: Target
  private let isOver: () -> Bool
  private let handler: (Outcome) -> Void
  private var seen: Set<ElementReference> = []
  /// The elements that say that they have focus, of which one is taken if no other is preferred.
  private var candidates: [ElementReference] = []
  /// Whether the program did not answer something in time.
  private var isIncomplete = false

  private init(
    _ bus: ProgramBus, _ target: Target, _ isOver: @escaping () -> Bool,
    _ handler: @escaping (Outcome) -> Void
  ) {
    (self.bus, self.target, self.isOver, self.handler) = (bus, target, isOver, handler)
  }

  /// What was found.
  enum Outcome {
    /// An element; unless it `isPreferred`, what had focus last is the better choice if it says that it has it.
    case found(ElementReference, isPreferred: Bool)
    /// Nothing has focus.
    case nothing
    /// Nothing was found, but the program did not answer everything in time.
    case noAnswer

    /// What was found.
    var element: ElementReference? { if case .found(let element, _) = self { element } else { nil } }
    /// Whether more may be found later.
    var isLate: Bool { if case .noAnswer = self { true } else { false } }
  }

  /// Hands over the focused element in `window`; nothing if `isOver` meanwhile.
  static func find(
    in window: ElementReference, on bus: ProgramBus, _ target: Target, isOver: @escaping () -> Bool,
    _ handler: @escaping (Outcome) -> Void
  ) {
    let search = FocusSearch(bus, target, isOver, handler)
    search.seen = [window]
    search.descend([window])
  }

  /// Looks at the children of `parents`.
  private func descend(_ parents: [ElementReference]) {
    guard !parents.isEmpty else { return choose() }
    var children: [(Int, [ElementReference])] = []
    let answers = Answers { [self] in
      guard !isOver() else { return }
      look(at: children.sorted { $0.0 < $1.0 }.flatMap(\.1))
    }
    for (index, parent) in parents.enumerated() {
      bus.children(
        of: parent, atMost: Self.childLimit,
        answers.expect { [self] answer in
          if answer.isLate { isIncomplete = true }
          guard case .success(let found) = answer else { return }
          // Objects of another program are not this window's.
          let own = found.filter {
            $0.application == parent.application && seen.count < Self.limit && seen.insert($0).inserted
          }
          children.append((index, own))
        })
    }
    answers.finish()
  }

  private func look(at elements: [ElementReference]) {
    var states: [ElementReference: ElementStates] = [:]
    let answers = Answers { [self] in
      guard !isOver() else { return }
      func first(_ wanted: ElementStates) -> ElementReference? {
        elements.first { states[$0]?.isSuperset(of: wanted) == true }
      }
      if let focused = first(target == .any ? .focused : [.focused, .editable]) {
        return handler(.found(focused, isPreferred: true))
      }
      let focused = elements.filter { states[$0]?.contains(.focused) == true }
      candidates = target == .deepest ? focused.first.map { [$0] } ?? candidates : candidates + focused
      descend(elements.filter { states[$0].map(hasOwnChildren) ?? false })
    }
    for element in elements {
      bus.states(
        of: element,
        answers.expect { [self] answer in
          if answer.isLate { isIncomplete = true }
          states[element] = try? answer.get()
        })
    }
    answers.finish()
  }

  /// Takes one of the candidates: each page's tab in front, for one, says that it has focus.
  private func choose() {
    guard let first = candidates.first else { return handler(isIncomplete ? .noAnswer : .nothing) }
    guard candidates.count > 1 else { return handler(.found(first, isPreferred: false)) }
    let candidates = candidates.prefix(Self.mostCandidates)
    var passing: Set<ElementReference> = []
    let answers = Answers { [self] in
      guard !isOver() else { return }
      handler(.found(candidates.first { !passing.contains($0) } ?? first, isPreferred: false))
    }
    for candidate in candidates {
      bus.role(
        of: candidate,
        answers.expect { answer in
          if case .success(let number) = answer, ElementRole(rawValue: number).mayPassFocus {
            passing.insert(candidate)
          }
        })
    }
    answers.finish()
  }

  /// Whether an element of `states` has no more children than are shown; a document's paragraphs are few.
  private func hasOwnChildren(_ states: ElementStates) -> Bool {
    !states.contains(.managesDescendants) || (target != .any && states.contains(.editable))
  }
}
