import DBusTypes
import Testing

@testable import focusctl

@Suite struct WatchTests {
  private typealias Change = WatchState.Change

  private func state(_ keys: String...) throws -> WatchState { WatchState(try keys.map { try KeyArgument($0) }) }

  private func number(_ value: Int32) -> DBusValue { .int32(value) }

  @Test func showsTheStateThenEachChangeOnce() throws {
    var state = try state("demo.Form.Number", "demo.Form.Text")
    #expect(
      state.replace(with: ["demo.Form.Number": number(1), "demo.Form.Other": number(9)])
        == [Change(key: "demo.Form.Number", value: number(1)), Change(key: "demo.Form.Text", value: nil)])
    #expect(state.apply([("demo.Form.Number", number(1))]) == [])
    #expect(state.apply([("demo.Form.Other", number(2))]) == [])
    #expect(state.apply([("demo.Form.Number", number(2))]) == [Change(key: "demo.Form.Number", value: number(2))])
    #expect(state.apply([("demo.Form.Number", nil)]) == [Change(key: "demo.Form.Number", value: nil)])
    #expect(state.apply([("demo.Form.Number", nil)]) == [])
  }

  @Test func readingAnewShowsTheDifference() throws {
    var state = try state()
    #expect(!state.hasBegun)
    #expect(state.replace(with: [:]) == [])
    #expect(state.hasBegun)
    #expect(
      state.replace(with: ["b.B.B": number(1), "a.A.A": number(2)])
        == [Change(key: "a.A.A", value: number(2)), Change(key: "b.B.B", value: number(1))])
    #expect(
      state.replace(with: ["b.B.B": number(1), "c.C.C": number(3)])
        == [Change(key: "a.A.A", value: nil), Change(key: "c.C.C", value: number(3))])
    #expect(state.replace(with: [:]) == [Change(key: "b.B.B", value: nil), Change(key: "c.C.C", value: nil)])
  }

  @Test func namedKeysAreNilFromTheStart() throws {
    var state = try state("Number")
    #expect(state.replace(with: [:]) == [Change(key: "Number", value: nil)])
    #expect(state.replace(with: [:]) == [])
  }

  @Test func shortKeysAreResolvedWheneverTheyAppear() throws {
    var state = try state("Number")
    _ = state.replace(with: [:])
    #expect(state.apply([("demo.Form.Number", number(1))]) == [Change(key: "Number", value: number(1))])
    #expect(state.apply([("other.Form.Number", number(2))]) == [Change(key: "Number", value: nil)])
    #expect(throws: CommandError.self) { try state.requireUnambiguous() }
    #expect(state.apply([("demo.Form.Number", nil)]) == [Change(key: "Number", value: number(2))])
    try state.requireUnambiguous()
  }

  @Test func elementsAreWatchedAlone() throws {
    var state = try state("Items/1", "Items/2")
    func items(_ texts: String...) -> [(key: String, value: DBusValue?)] { [("demo.Todo.Items", .strings(texts))] }
    _ = state.replace(with: [:])
    #expect(state.apply(items("a", "b")) == [Change(key: "Items/1", value: .string("b"))])
    #expect(state.apply(items("x", "b")) == [])
    #expect(state.apply(items("x", "b", "c")) == [Change(key: "Items/2", value: .string("c"))])
    #expect(
      state.apply(items("x"))
        == [Change(key: "Items/1", value: nil), Change(key: "Items/2", value: nil)])
  }

  @Test(arguments: [
    (DBusValue.int32(8), true, false, "8\n"), (.int32(8), false, false, "K 8\n"), (nil, true, false, "nil\n"),
    (nil, false, false, "K nil\n"), (.string("a\nb\t\\\u{1b}"), true, false, "a\\nb\\t\\\\\\u001b\n"),
    (.strings(["a\n"]), true, false, "[\"a\\n\"]\n"), (.string(""), false, false, "K \n"),
    (.int32(8), true, true, "{\"type\":\"i\",\"data\":8}\n"), (nil, true, true, "null\n"),
    (.int32(8), false, true, "{\"key\":\"K\",\"value\":{\"type\":\"i\",\"data\":8}}\n"),
    (nil, false, true, "{\"key\":\"K\",\"value\":null}\n"),
  ])
  func writesLines(value: DBusValue?, bare: Bool, json: Bool, line: String) throws {
    var options = Options()
    if json { options.set(.json, "") }
    #expect(try WatchFormat(options, keys: bare ? 1 : 2).line(Change(key: "K", value: value)) == line)
  }
}
