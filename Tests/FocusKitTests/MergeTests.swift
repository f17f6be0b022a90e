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
}
