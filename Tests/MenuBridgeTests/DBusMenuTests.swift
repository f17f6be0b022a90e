import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A menu bar that a program has given away, told by the window or by a registrar that is there.
@Suite struct DBusMenuTests {
  private static let registrar = "com.canonical.AppMenu.Registrar"

  /// Who says where the menu is.
  enum Teller: CaseIterable { case window, registrar }

  private static func with(
    _ teller: Teller, process: Int32 = getpid(), delay: Duration? = nil,
    _ body: (MenuStage, StubDBusMenu) async throws -> Void
  ) async throws {
    try await MenuStage.with { stage in
      let program = StubDBusMenu(try await stage.desktop.peer())
      program.state.update { $0.delay = delay }
      var addresses: Named = []
      let registrar = try await stage.desktop.peer()
      switch teller {
      case .window:
        addresses = [
          ("kde-appmenu-service-name", .string(program.peer.name)),
          ("kde-appmenu-object-path", .objectPath(ObjectPath(known: StubDBusMenu.path))),
        ]
      case .registrar:
        registrar.answer(at: "/com/canonical/AppMenu/Registrar") { [name = program.peer.name] call, _ in
          guard call.member == "GetMenuForWindow", call.arguments == [.uint32(4711)] else {
            return .error("org.freedesktop.DBus.Error.Failed", "another window")
          }
          return .values([.string(name), .objectPath(ObjectPath(known: StubDBusMenu.path))])
        }
        registrar.answersElsewhere()
        try await registrar.own(Self.registrar)
      }
      try await stage.show("w4711", addresses, process: process)
      try await body(stage, program)
      withExtendedLifetime(registrar) {}
    }
  }

  @Test(arguments: Teller.allCases) func itsItemsAreRun(teller: Teller) async throws {
    try await Self.with(teller) { stage, program in
      try await stage.has("Edit.Undo")
      let items = try await stage.items()
      #expect(items.map(\.id) == ["Edit › Undo", "Edit › Wrap", "Edit › Later"])
      #expect(items.map(\.isEnabled) == [true, true, false] && items.map(\.checked) == [-1, 0, -1])
      try await stage.run("Edit.Undo")
      try await stage.run("Menu.Check", [.string("Edit › Wrap"), .boolean(true)])
      try await stage.run("Menu.Check", [.string("Edit › Wrap"), .boolean(true)])
      try await program.state.ran(\.clicked, [2, 4])

      #expect(try await stage.refusal("Menu.Activate", [.string("Edit › Later")]) == "Disabled")
      // Another item has the number now: neither its label nor its keys are the same.
      program.state.update { $0.items[2] = StubDBusMenu.Item(label: "_Delete everything") }
      let refusal = try await stage.refusal("Edit.Undo")
      #expect(refusal == "Failed")
      #expect(program.state.now.clicked == [2, 4])
    }
  }

  /// As Electron's are; and two of its items have one label.
  @Test func menusThatAreFilledWhenTheyAreShown() async throws {
    try await Self.with(.window) { stage, program in
      try await stage.has("Edit.Undo")
      program.state.update { state in
        state.items[1] = StubDBusMenu.Item(label: "_Edit", other: [("children-display", .string("submenu"))])
        state.items[6] = StubDBusMenu.Item(label: "_Wrap")
        state.filled = [1: [2, 4, 6]]
      }
      let items = try await stage.items()
      #expect(items.map(\.id) == ["Edit › Undo", "Edit › Wrap", "Edit › Wrap (2)"])
      try await stage.run("Menu.Activate", [.string("Edit › Wrap (2)")])
      try await program.state.ran(\.clicked, [6])
    }
  }

  /// As those are that depend on the clipboard.
  @Test func itemsThatAreTurnedOnWhenTheirMenuIsShown() async throws {
    try await Self.with(.window) { stage, program in
      try await stage.has("Edit.Undo")
      #expect(try await stage.refusal("Menu.Activate", [.string("Edit › Later")]) == "Disabled")
      program.state.update { $0.turnedOn = [1: [6]] }
      try await stage.run("Menu.Activate", [.string("Edit › Later")])
      try await program.state.ran(\.clicked, [6])
    }
  }

  /// Each answer takes longer than one may at first sight.
  @Test func aProgramThatIsSlow() async throws {
    try await Self.with(.window, delay: .milliseconds(600)) { stage, program in
      try await stage.has("Edit.Undo")
      try await program.state.ran(\.clicked, only: 2, in: stage.attempts("Edit.Undo"))
    }
  }

  /// What is not answered in time is not gone.
  @Test(arguments: [("Edit.Undo", "GetGroupProperties"), ("Menu.Items", "GetLayout")])
  func anAnswerThatDoesNotCome(command: String, member: String) async throws {
    try await Self.with(.window) { stage, program in
      try await stage.has("Edit.Undo")
      try await stage.keeps("Edit.Undo", unanswered: command) { isSilent in
        program.state.update { $0.answers = isSilent ? [member: .hold] : [:] }
      }
    }
  }

  /// An answer that is too long to be read is no empty menu.
  @Test func moreItemsThanAreRead() async throws {
    try await Self.with(.window) { stage, program in
      try await stage.has("Edit.Undo")
      program.add(12_000, to: 1)
      try await eventually("a refusal") { try await stage.refusal("Menu.Items") == "LimitsExceeded" }
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == true)
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.clicked, [2])
    }
  }

  /// Two thousand with one label of many bytes, and one with keys of megabytes.
  @Test func itemsThatLookAlike() async throws {
    try await Self.with(.window) { stage, program in
      program.add(2000, to: 1) { number in
        let keys = number == 100 ? ["Control", String(repeating: "+", count: 4 << 20)] : []
        return StubDBusMenu.Item(label: String(repeating: "🙂", count: 256), keys: keys)
      }
      try await stage.has("Edit.Undo")
      try await eventually("the items") { (try? await stage.items().count) == 35 }
    }
  }

  @Test func anItemThatIsHiddenIsNotRun() async throws {
    try await Self.with(.window) { stage, program in
      try await stage.has("Edit.Undo")
      program.state.update { $0.items[2]?.other = [("visible", .boolean(false))] }
      #expect(try await stage.refusal("Edit.Undo") != nil)
      #expect(program.state.now.clicked.isEmpty)
    }
  }

  /// Each item repeats the labels of the menus that it is in.
  @Test func menusWithLongLabels() async throws {
    try await Self.with(.window) { stage, program in
      let label = String(repeating: "🙂", count: 256)
      program.state.update { state in
        state.items[0]?.children.append(11)
        for number in Int32(11)...17 { state.items[number] = StubDBusMenu.Item(label: label, children: [number + 1]) }
        state.items[17]?.children = []
      }
      program.add(4096, to: 17)
      try await stage.has("Edit.Undo")
      try await eventually("items of the last menu") { (try? await stage.items().count) ?? 0 > 3 }
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.clicked, [2])
    }
  }

  /// The number of a window may be another's by now, and a window may say what it likes.
  @Test(arguments: Teller.allCases) func aMenuOfAnotherProcessIsNotTaken(teller: Teller) async throws {
    try await Self.with(teller, process: 1) { stage, program in
      // What the bridge asks for later is answered after what it asked before.
      let other = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      #expect(program.state.now.calls.isEmpty && !other.state.now.calls.isEmpty)
    }
  }

  /// Programs that find one take their menu bars out of their windows.
  @Test func aRegistrarIsNeverOwnedNorStarted() async throws {
    try await MenuStage.with { stage in
      try await stage.show("w4711", [])
      let other = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      let names = try await stage.windows.askBus("ListNames").first
      guard case .array(let names)? = names else { return #expect(Bool(false)) }
      #expect(!names.contains(.string(Self.registrar)) && names.contains(.string(other.peer.name)))
    }
  }

  @Test(arguments: [[], [.string("x")], [.uint32(1), .string("x")]] as [[DBusValue]])
  func aLayoutOfAnotherTypeIsNoMenu(answer: [DBusValue]) async throws {
    try await MenuStage.with { stage in
      let program = StubDBusMenu(try await stage.desktop.peer())
      program.state.update { $0.answers["GetLayout"] = .values(answer) }
      try await stage.show(
        "w4711",
        [
          ("kde-appmenu-service-name", .string(program.peer.name)),
          ("kde-appmenu-object-path", .objectPath(ObjectPath(known: StubDBusMenu.path))),
        ])
      try await program.state.wait(for: "the question") { $0.calls.contains("GetLayout") ? () : nil }
      let other = try await stage.program("w1")
      try await stage.has("Edit.Undo")
      #expect(!other.state.now.calls.isEmpty)
    }
  }
}
