import BusSupport
import DBusTypes
import TestSupport

/// A program that offers menus: an object of its own with the commands of `org.focusd.Menu`.
struct MenuStage: Sendable {
  /// An item as `Items` tells it; `checked` is -1 if it cannot be.
  struct Item {
    var id: String
    var menus: [String]
    var label: String
    var keys = ""
    var isEnabled = true
    var checked: Int32 = -1

    var value: DBusValue {
      .structure([
        .string(id), .strings(menus), .string(label), .string(keys), .boolean(isEnabled), .int32(checked),
      ])
    }
  }

  static let items = [
    Item(id: "win.paste", menus: ["Edit"], label: "Paste", keys: "Ctrl+V", isEnabled: false),
    Item(id: "win.undo", menus: ["Edit"], label: "Undo", keys: "Ctrl+Z"),
    Item(id: "win.undo-all", menus: ["Edit"], label: "Undo All"),
    Item(id: "win.wrap", menus: ["View", "Lines"], label: "Wrap", keys: "F6", checked: 0),
    Item(id: "win.numbers", menus: ["View", "Lines"], label: "Numbers", checked: 1),
    Item(id: "a", menus: ["Tools"], label: "Twin", keys: "F1"),
    Item(id: "b", menus: ["Tools"], label: "Twin", keys: "F2"),
    Item(id: "c", menus: ["Tools"], label: "Same"), Item(id: "d", menus: ["Tools"], label: "Same"),
    Item(id: "odd", menus: ["Tools"], label: "Über\t\"it's\" $HOME \\n"),
  ]

  private let object: Exported

  /// Registers `id`, whose menus have `items`, beside what `options` say.
  init(
    _ desktop: TestDesktop, _ id: String = "editor", _ items: [Item] = Self.items, options: Named = [],
    owner: Peer? = nil
  ) async throws {
    let owner = if let owner { owner } else { try await desktop.peer() }
    let menu = document(
      (
        "org.focusd.Menu",
        method("Items", out: ["a(sasssbi)"]) + method("Activate", in: ["s"]) + method("Check", in: ["s", "b"])
      ))
    object = Exported(owner, menu, at: "/\(id)")
    let answer = Self.answer(items)
    object.rule("Items") { _, _, _ in answer }
    for member in ["Activate", "Check"] { object.rule(member) { _, _, _ in .values([]) } }
    try await owner.register(id, object: "/\(id)", options)
  }

  private static func answer(_ items: [Item]) -> Answer {
    let type = DBusType.structure([.string, .array(.string), .string, .string, .boolean, .int32])
    return .values([.array(DBusArray(known: type, items.map(\.value)))])
  }

  /// Waits until the items are asked for, holds the answer during `body`, and gives it.
  func whileAsked(_ items: [Item] = Self.items, _ body: () async throws -> Void) async throws {
    let answer = Self.answer(items)
    try await object.state.wait(for: "a question") { $0.calls.contains { $0.member == "Items" } ? () : nil }
    try await body()
    object.owner.perform { thread in thread.release { $0.member == "Items" ? answer : .hold } }
  }

  func rule(_ member: String, _ rule: Exported.Rule?) { object.rule(member, rule) }

  /// What the program was asked to run and check, in order.
  var calls: [String] {
    object.state.now.calls.filter { ["Activate", "Check"].contains($0.member) }.map { call in
      ([call.member] + call.arguments.compactMap(\.basicText)).joined(separator: " ")
    }
  }
}
