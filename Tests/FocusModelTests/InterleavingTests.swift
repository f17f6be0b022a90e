import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// What a window manager, two programs and the bridge say comes in any order.
@Suite struct InterleavingTests {
  /// Streams of words as `WindowStage` plays them; each keeps its order, and they meet in every way.
  static let scenarios: [(name: String, streams: [String])] = [
    ("polite programs", ["!w1 !w2 !w1", "w1+A w2+B", "a1 -a1 a2", "b1 -b1"]),
    ("silent programs", ["!w1 !w2 -w2", "w1+A w2+B", "a1 a2", "b1"]),
    ("late programs, an empty workspace", ["!w1 -w1 !w2", "w1+A w2+B w2+", "a1", "-a1 a2", "b1"]),
    ("one connection in two windows", ["!w1 !w2 !w1", "w1+A w2+A", "a1 a2 -a2", "b1"]),
    ("a window that goes", ["!w1 !w2 ~w2", "w1+A w2+AB", "a1 a2", "b1"]),
  ]

  /// One order of so many is played, every one in the long runs: neighbours in the list differ at the end alone.
  private static let stride = isSlow ? 1 : 7

  @Test("Whatever the order of what they say, it ends as the contract has it", arguments: scenarios.indices)
  func merges(_ index: Int) async throws {
    let streams = Self.scenarios[index].streams.map { $0.split(separator: " ").map(String.init) }
    var count = 0
    for (number, order) in Self.merges(of: streams).enumerated() where number.isMultiple(of: Self.stride) {
      if count.isMultiple(of: 100) { await Task.yield() }
      count += 1
      try Self.play(order)
    }
    #expect(count > 100)
  }

  /// Every sequence that keeps the order of each stream.
  private static func merges(of streams: [[String]]) -> [[String]] {
    guard streams.contains(where: { !$0.isEmpty }) else { return [[]] }
    return streams.indices.flatMap { index in
      guard let first = streams[index].first else { return [[String]]() }
      var rest = streams
      rest[index].removeFirst()
      return merges(of: rest).map { [first] + $0 }
    }
  }

  private static func play(_ words: [String]) throws {
    let stage = try WindowStage()
    var naive = NaiveSession(condition: .init(key: try Key("demo.Player.Status"), value: .int32(1)))
    for (number, id) in ["w1", "w2", "a1", "a2", "b1"].enumerated() {
      if !id.hasPrefix("w") { try stage.register(id) }
      naive.entries.append(
        .init(
          id: try FieldID(id), owner: stage.owner(id), parent: nil, isWindow: id.hasPrefix("w"), registration: number))
    }
    var gone: Set<String> = []
    for word in words {
      let rest = String(word.dropFirst())
      // What is gone is not spoken of any more.
      guard gone.isDisjoint(with: [word, rest, String(word.prefix(2))]) else { continue }
      try stage.play(word)
      switch word.first {
      case "!": naive.focus(try FieldID(rest))
      case "-": naive.blur(try FieldID(rest))
      case "~":
        gone.insert(rest)
        naive.remove([try FieldID(rest)])
      default:
        if let plus = word.firstIndex(of: "+") {
          naive.adopt(
            word[word.index(after: plus)...].map { stage.owner($0.lowercased()) }, try FieldID(String(word[..<plus])))
        } else {
          naive.focus(try FieldID(word))
        }
      }
      try #require(stage.model.focusPath == naive.path(naive.shown), "\(words), at \(word)")
      try #require(stage.model.history == naive.history, "\(words), at \(word)")
    }
  }
}
