internal import Foundation
internal import Testing

/// The accessibility bridge as a service that a user has enabled.
@Suite(
  .serialized,
  .enabled(
    if: DesktopPrograms.canRun && hasGTK3, "needs i3, xdotool, GTK 3 for Python and at-spi2-core: .ci/setup test"))
struct AccessibilityUnitTests {
  /// ATK's bridge freezes a program if a connection to it ends while a dialog is open that a call there has opened.
  @Test(arguments: ["restart focusd-accessibility", "kill --signal KILL focusd-accessibility"])
  func aDialogOutlivesTheBridgeThatHasOpenedIt(end: String) async throws {
    let transcript = try await Script.runInSession(
      staging: [Script.project + "/Tests/AccessibilityTests/Resources/dialog.py"],
      DesktopTests.functions + """
        begin_i3
        export DISPLAY=:$number GSETTINGS_BACKEND=memory
        systemctl --user import-environment DISPLAY
        systemctl --user enable --quiet --now focusd-accessibility
        get() { /run/stage/focusctl get "$1" 2>/dev/null; }
        process() { systemctl --user show focusd-accessibility --value --property MainPID; }
        held() { systemctl --user show focusd-accessibility --value --property NFileDescriptorStore; }
        python3 -B /run/stage/dialog.py 2>/dev/null &
        program=$!
        is 50 Ask get Element.Name >/dev/null
        /run/stage/focusctl run Action.Click
        is 50 textbox get Element.Role >/dev/null
        is 50 1 held
        before=$(process)
        systemctl --user \(end)
        anew() { local now=$(process); [ "$now" = "$before" ] || [ "$now" = 0 ] || echo yes; }
        is 50 yes anew >/dev/null
        xdotool key q
        is 50 q get Text.Content
        kill "$program"
        is 50 0 held
        kill $server
        """)
    #expect(transcript.status == 0, "\(transcript)")
    // The end of the program is that of the connection.
    #expect(transcript.output == ["1", "q", "0"], "\(transcript)")
  }
}

private let hasGTK3 = [
  "/usr/bin/xdotool", "/usr/libexec/at-spi-bus-launcher", "/usr/lib/x86_64-linux-gnu/girepository-1.0/Gtk-3.0.typelib",
].allSatisfy(FileManager.default.fileExists)
