import DBusTypes
import Testing

@testable import FocusKit

/// A change that is made once more, on a value that somebody else has changed meanwhile.
@Suite struct MergeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let base: String
    let changed: String
    let current: String
    let merged: String?

    init(_ description: String, _ base: String, _ changed: String, onto current: String, _ merged: String?) {
      (testDescription, self.base, self.changed) = (description, base, changed)
      (self.current, self.merged) = (current, merged)
    }
  }

  static let cases = [
    Case("an append comes at the end, also behind what others appended", "ab", "abc", onto: "abx", "abxc"),
    Case("an append comes at the end, though the beginning is another", "ab", "abc", onto: "xab", "xabc"),
    Case("an append to what is empty", "", "c", onto: "x", "xc"),
    Case("an insertion at the beginning stays there", "ab", "cab", onto: "abx", "cabx"),
    Case("an insertion keeps its place from the beginning", "abcd", "abxcd", onto: "abcdy", "abxcdy"),
    Case("an insertion nearer to the end keeps its place from there", "abcd", "abcxd", onto: "yabcd", "yabcxd"),
    Case("a removal at the end", "abc", "ab", onto: "xabc", "xab"),
    Case("a removal at the beginning", "abc", "bc", onto: "abcx", "bcx"),
    Case("a replacement", "abc", "axc", onto: "abcd", "axcd"),
    Case("what others removed cannot be replaced", "abc", "axc", onto: "ac", nil),
    Case("nobody else changed anything", "abc", "x", onto: "abc", "x"),
    Case("nothing was changed", "abc", "abc", onto: "x", "x"),
  ]

  @Test("A text's characters and an array's elements", arguments: cases)
  func elements(_ each: Case) throws {
    func array(_ text: String) -> DBusValue { .strings(text.map(String.init)) }
    #expect(
      Merge.merge(.string(each.base), .string(each.changed), onto: .string(each.current), byDifference: true)
        == each.merged.map(DBusValue.string))
    #expect(
      Merge.merge(array(each.base), array(each.changed), onto: array(each.current), byDifference: false)
        == each.merged.map(array))
  }

  struct Entries: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let base: [String: Int32]
    let changed: [String: Int32]
    let current: [String: Int32]
    let merged: [String: Int32]?

    init(
      _ description: String, _ base: [String: Int32], _ changed: [String: Int32], onto current: [String: Int32],
      _ merged: [String: Int32]?
    ) {
      (testDescription, self.base, self.changed) = (description, base, changed)
      (self.current, self.merged) = (current, merged)
    }
  }

  static let entries = [
    Entries("both add", ["a": 1], ["a": 1, "b": 2], onto: ["a": 1, "c": 3], ["a": 1, "b": 2, "c": 3]),
    Entries("both add the same", [:], ["a": 1], onto: ["a": 1, "b": 2], ["a": 1, "b": 2]),
    Entries("both add the same key with other values", [:], ["a": 1], onto: ["a": 2], nil),
    Entries("one adds, the other removes", ["a": 1], ["a": 1, "b": 2], onto: [:], ["b": 2]),
    Entries(
      "one changes an entry, the other another", ["a": 1, "b": 1], ["a": 2, "b": 1], onto: ["a": 1, "b": 3],
      ["a": 2, "b": 3]),
    Entries(
      "one changes an entry, the other removes another", ["a": 1, "b": 1], ["a": 2, "b": 1], onto: ["a": 1], ["a": 2]),
    Entries("both make the same change", ["a": 1], ["a": 2], onto: ["a": 2, "b": 1], ["a": 2, "b": 1]),
    Entries("both change an entry", ["a": 1], ["a": 2], onto: ["a": 3], nil),
    Entries("both remove", ["a": 1, "b": 1], ["b": 1], onto: ["b": 2], ["b": 2]),
    Entries("one removes what the other changed", ["a": 1], [:], onto: ["a": 2], nil),
    Entries("one changes what the other removed", ["a": 1], ["a": 2], onto: [:], nil),
  ]

  @Test("A dictionary's entries", arguments: entries)
  func dictionary(_ each: Entries) throws {
    let merged = Merge.merge(
      try each.base.dbusValue(), try each.changed.dbusValue(), onto: try each.current.dbusValue(), byDifference: false)
    #expect(try merged.map { try [String: Int32](dbusValue: $0) } == each.merged)
  }

  @Test(
    "What is computed from a value that others changed",
    arguments: [
      (.int32(5), .int32(7), .int32(10), .int32(12)),
      (.int32(5), .int32(3), .int32(10), .int32(8)),
      (.byte(250), .byte(255), .byte(0), .byte(5)),
      (.byte(250), .byte(255), .byte(251), nil),
      (.byte(5), .byte(0), .byte(4), nil),
      (.int64(.min), .int64(.max), .int64(.min + 1), nil),
      (.uint64(0), .uint64(.max), .uint64(1), nil),
      (.uint64(.max), .uint64(0), .uint64(.max - 1), nil),
      (.double(0.5), .double(1), .double(2), .double(2.5)),
      (.boolean(false), .boolean(true), .boolean(true), .boolean(false)),
      (.int32(5), .int32(7), .int64(10), nil),
      (.variant(.int32(5)), .variant(.int32(7)), .variant(.int32(10)), .variant(.int32(12))),
      (
        .structure([.int32(5), .string("a")]), .structure([.int32(6), .string("a")]),
        .structure([.int32(8), .string("b")]), .structure([.int32(9), .string("b")])
      ),
    ] as [(DBusValue, DBusValue, DBusValue, DBusValue?)])
  func differences(_ base: DBusValue, _ changed: DBusValue, _ current: DBusValue, _ merged: DBusValue?) {
    #expect(Merge.merge(base, changed, onto: current, byDifference: true) == merged)
    let isWhole = Merge.merge(base, changed, onto: current, byDifference: false)
    if case .structure = base { return }
    #expect(isWhole == (changed == current ? current : nil))
  }
}
