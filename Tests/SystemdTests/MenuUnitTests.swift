internal import Foundation
internal import Testing

/// The menu bridge as a service that a user has enabled: its sandbox hides nothing that it needs of programs.
@Suite(
  .serialized, .enabled(if: MenuPrograms.canRun, "needs i3, mousepad, featherpad and at-spi2-core: .ci/setup test"))
struct MenuUnitTests {
  /// Starts with the session; `undo` prints whether `Edit.Undo` is enabled, and `saved` what the program in front saves.
  private static let functions =
    DesktopTests.functions + """
      systemctl --user enable --quiet focusd-menus
      systemctl --user stop focusd-windows focusd-menus default.target
      systemctl --user start default.target
      begin_i3
      export DISPLAY=:$number GSETTINGS_BACKEND=memory QT_QPA_PLATFORM=xcb
      printf 'one\\n' >~/document.txt
      undo() { /run/stage/focusctl commands | sed -n 's/^org.focusd.Edit.Undo *\\([a-z]*\\).*/\\1/p'; }
      saved() { /run/stage/focusctl run Document.Save && cat ~/document.txt; }

      """

  /// GTK by the session bus, Qt by the accessibility bus.
  @Test(arguments: SessionBus.allCases, ["mousepad", "featherpad"])
  func enabledOnceItUndoesAfterEachLogin(bus: SessionBus, program: String) async throws {
    let transcript = try await Script.runInSession(
      on: bus,
      Self.functions + """
        busctl --user set-property org.a11y.Bus /org/a11y/bus org.a11y.Status IsEnabled b true
        # Qt 5 looks for it where a display manager would have written it.
        address=$(busctl --user call org.a11y.Bus /org/a11y/bus org.a11y.Bus GetAddress | cut -d '"' -f 2)
        xprop -root -f AT_SPI_BUS 8s -set AT_SPI_BUS "$address"
        # Started by what Qt 5 says at its start, it sometimes does not list the program, which never says it again.
        busctl --address="$address" call org.a11y.atspi.Registry /org/a11y/atspi/accessible/root \
          org.a11y.atspi.Accessible GetChildren >/dev/null
        \(program) ~/document.txt 2>/dev/null &
        is 50 1 eval 'undo | wc -l' >/dev/null
        # It may take no keys before it has opened the document.
        is 50 1 eval 'title | grep -c document.txt' >/dev/null
        xdotool key x
        is 50 enabled undo >/dev/null
        is 50 xone saved
        /run/stage/focusctl run Edit.Undo
        is 50 one saved
        systemctl --user show focusd-menus --value --property NRestarts
        kill $server
        """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(transcript.output == ["xone", "one", "0"], "\(transcript)")
  }
}

private enum MenuPrograms {
  static let canRun =
    DesktopPrograms.canRun
    && ["/usr/bin/mousepad", "/usr/bin/featherpad", "/usr/bin/xdotool", "/usr/libexec/at-spi-bus-launcher"]
      .allSatisfy(FileManager.default.isExecutableFile)
}
