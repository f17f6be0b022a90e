internal import DBusTypes
internal import TestSupport

/// An owner of a field whose object lies, in the way that the test says.
///
/// Without a lie it is an honest one.
package final class Liar: Sendable {
  /// A way to lie.
  package enum Lie: Hashable, Sendable, CustomStringConvertible {
    /// It declares properties of one type and tells others.
    case otherTypes
    /// It tells properties, and changes of such, that it does not declare, some of them with impossible names.
    case strayProperties
    /// What it tells of one interface has 60 MiB, in one value or in many.
    case hugeProperties(values: Int)
    /// One change of which it tells has 60 MiB, in one value or in many.
    case hugeChanges(values: Int)
    /// Its introspection data is this.
    case description(String)
    /// It answers nothing until it is told to.
    case answersLate
    /// It answers everything two times.
    case answersTwice
    /// It leaves when this method is called.
    case leaves(at: String)
    /// It leaves as soon as it has answered a call of this method.
    case leavesAfter(String)

    package var description: String {
      switch self {
      case .otherTypes: "other types than declared"
      case .strayProperties: "properties that are not there"
      case .hugeProperties(let count): "60 MiB of properties, in \(count) values"
      case .hugeChanges(let count): "60 MiB of changes, in \(count) values"
      case .description(let text): "the introspection data '\(text.prefix(16))'…, \(text.utf8.count) bytes"
      case .answersLate: "late answers"
      case .answersTwice: "two answers to each call"
      case .leaves(let member): "leaves when \(member) is called"
      case .leavesAfter(let member): "leaves after it has answered \(member)"
      }
    }

    /// Every way, but for what an owner can say of itself that is not introspection data.
    package static var all: [Lie] {
      [
        .otherTypes, .strayProperties, .hugeProperties(values: 1), .hugeProperties(values: 60), .hugeChanges(values: 1),
        .hugeChanges(values: 60), .answersLate, .answersTwice,
      ]
        + [
          "", "<node>", "no XML", "<node><interface name='1'/></node>",
          "<!DOCTYPE a [<!ENTITY b 'c'>]><node>&b;</node>",
        ]
        .map { .description($0) }
        + [
          .description(String(repeating: "<node>", count: 100_000)),
          .description(String(repeating: " ", count: 60 << 20)),
        ]
        + members.flatMap { [.leaves(at: $0), .leavesAfter($0)] }
    }
  }

  /// The property that it has whatever it says, and which is 1 where it is honest.
  package static let key = "demo.Liar.Number"
  package static let path = "/liar"
  /// All that it is called by.
  private static let members = ["Introspect", "GetAll", "Get", "Set", "Do"]

  /// The connection, and what it is called by.
  package let peer: Peer
  private let object: Exported
  private let lie: Lie?

  package var name: String { peer.name }

  package init(on desktop: TestDesktop, telling lie: Lie?) async throws {
    peer = try await desktop.peer()
    self.lie = lie
    object = Exported(peer, Self.xml(lie), at: Self.path)
    for member in Self.members {
      object.rule(member) { call, _, thread in
        if lie == .answersLate { return .hold }
        if lie == .leaves(at: member) { return .leave }
        if lie == .leavesAfter(member) { thread.afterReply = { [weak thread] in thread?.leave() } }
        let values = Self.answer(member, lie)
        return lie == .answersTwice ? .twice(values) : .values(values)
      }
    }
  }

  /// How a registration has ended: well, with an error of this name, or not before it had left.
  package enum Outcome: Hashable, Sendable {
    case registered
    case refused(String)
    case left
  }

  /// Begins to register its object as the field `id`.
  package func beginRegister(_ id: String, _ options: Named = []) -> Peer.Pending {
    peer.begin(.register(id, object: Self.path, options))
  }

  /// Registers its object as the field `id`.
  /// - Throws: `DeadlinePassed`.
  /// - Returns: how that has ended.
  package func register(_ id: String, _ options: Named = []) async throws -> Outcome {
    try await Self.outcome(of: beginRegister(id, options))
  }

  /// Waits for the end of a registration.
  /// - Throws: `DeadlinePassed`.
  package static func outcome(of registration: Peer.Pending) async throws -> Outcome {
    switch try await registration.outcome() {
    case .success: .registered
    case .failure(let error): error.isRemote ? .refused(error.shortName) : .left
    }
  }

  /// Waits until the daemon has asked it something.
  /// - Throws: `DeadlinePassed`.
  package func asked() async throws {
    _ = try await object.state.wait(for: "question to the liar") { $0.calls.isEmpty ? nil : true }
  }

  /// Answers what has been asked, and everything from now on, if it has answered nothing so far.
  package func answer() {
    guard lie == .answersLate else { return }
    object.state.update { [lie] state in
      for member in Self.members { state.rules[member] = { _, _, _ in .values(Self.answer(member, lie)) } }
    }
    object.release { [lie] in .values(Self.answer($0.member, lie)) }
  }

  /// Tells the changes of properties that its lie is about, if it is about any.
  package func tellChanges() {
    peer.perform { [lie] thread in
      switch lie {
      case .otherTypes: thread.emitChanged(Self.path, "demo.Liar", Self.properties(lie))
      case .strayProperties:
        thread.emitChanged(Self.path, "demo.Liar", Self.stray, invalidated: ["Gone", "", "no name"])
        thread.emitChanged(Self.path, "demo.Stray", Self.stray)
      case .hugeChanges(let count): thread.emitChanged(Self.path, "demo.Liar", Self.texts(count))
      default: break
      }
    }
  }

  /// Closes its connection and waits until it is closed.
  /// - Throws: `DeadlinePassed`.
  package func leave() async throws { try await peer.leave() }

  // MARK: What it says

  private static func answer(_ member: String, _ lie: Lie?) -> [DBusValue] {
    switch member {
    case "Introspect": [.string(xml(lie))]
    case "GetAll": [.properties(properties(lie))]
    case "Get": [.variant(lie == .otherTypes ? .string("one") : .int32(1))]
    default: []
    }
  }

  private static func xml(_ lie: Lie?) -> String {
    if case .description(let text)? = lie { return text }
    let texts = (0..<60).map { property("Text\($0)", "s", "read") }.joined()
    return document(("demo.Liar", property("Number", "i") + texts + method("Do")))
  }

  private static func properties(_ lie: Lie?) -> Named {
    let number: Named = [(name: "Number", value: .int32(1))]
    return switch lie {
    case .otherTypes: [(name: "Number", value: .strings(["1"])), (name: "Text0", value: .double(0.5))]
    case .strayProperties: number + stray
    case .hugeProperties(let count): number + texts(count)
    default: number
    }
  }

  private static var stray: Named {
    ["Stray", "", "no name", "demo.Liar.Number", String(repeating: "x", count: 300)].map {
      (name: $0, value: .int32(7))
    }
  }

  /// 60 MiB in `count` values, each of 1 MiB at most if there are 60.
  private static func texts(_ count: Int) -> Named {
    let text = String(repeating: "x", count: (60 << 20) / count - 8)
    return (0..<count).map { (name: "Text\($0)", value: .string(text)) }
  }
}
