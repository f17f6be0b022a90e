import BusSupport
import DBusTypes
import TestSupport
import Testing

/// LibreOffice where no window tells where its menus are, as on most Wayland compositors.
@Suite struct OfficeTests {
  private static let windows = "/org/libreoffice/window"

  /// Beside its document's window it exports one that nobody sees; on Wayland their numbers are addresses.
  @Test(arguments: [["7", "9"], ["94574702960864", "94574705049408"]])
  func aWindowWithoutActionsIsNone(numbers: [String]) async throws {
    let (found, searches) = (Observed<StubMenus?>(nil), Observed(0))
    let start = { (desktop: TestDesktop) in
      // Of a process's connections, the first ones are searched.
      let peer = try await desktop.peer()
      let program = StubMenus(
        peer, window: Self.windows + "/" + numbers[1], menubar: Self.windows + "/\(numbers[1])/menus/menubar")
      for (path, children) in [
        ("/", ["org"]), ("/org", ["libreoffice"]), ("/org/libreoffice", ["window"]), (Self.windows, numbers),
      ] {
        let nodes = children.map { #"<node name="\#($0)"/>"# }.joined()
        peer.answer(at: path) { _, _ in
          if path == "/" { searches.update { $0 += 1 } }
          return .values([.string("<node>\(nodes)</node>")])
        }
      }
      peer.answer(at: Self.windows + "/" + numbers[0]) { _, _ in .values([.strings([])]) }
      found.update { $0 = program }
    }
    try await MenuStage.with(before: start) { stage in
      let program = try #require(found.now)
      try await stage.show("w1", [])
      try await stage.has("Edit.Undo")
      #expect(try await stage.items().map(\.id) == ["win.undo", "win.wrap"])
      try await stage.run("Edit.Undo")
      try await program.state.ran(\.activated, ["undo"])
      // Without accessibility, another window of the program may be a dialog.
      let before = searches.now
      try await stage.show("w2", [])
      try await searches.wait(for: "several looks") { $0 >= before + 2 ? () : nil }
      #expect(try await stage.windows.commands()["org.focusd.Edit.Undo"] == nil)
      try await stage.windows.focus("w1")
      try await stage.has("Edit.Undo")
    }
  }
}
