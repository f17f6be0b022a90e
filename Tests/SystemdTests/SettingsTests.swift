internal import Foundation
internal import Testing

/// The user's settings as the services see them, from within their sandboxes.
@Suite struct SettingsTests {
  /// The file appears after the start, and another takes its place: as an editor writes it.
  @Test(arguments: ["windows", "accessibility", "menus", "players"])
  func aServiceReadsThemAtTheStartAndOnReload(section: String) async throws {
    try #require(try Script.units.contains("focusd-\(section).service"))
    let transcript = try await Script.runInSession(
      """
      unit=focusd-\(section) file=~/.config/focusd/focusd.conf
      said() { grep -m 1 -o "$1" < <(timeout 50 journalctl --user --follow --lines all --output cat -u $unit); }
      write() { printf '[\(section)]\\n%s=1\\n' "$1" >$file.new && mv $file.new $file; }
      install_focusd
      systemctl --user start $unit
      [ -d ~/.config/focusd ] || mkdir -p ~/.config/focusd
      write First
      systemctl --user reload $unit
      said "focusd.conf:2: unknown key 'First' in \\[\(section)\\]"
      write Second
      systemctl --user reload $unit
      said "unknown key 'Second'"
      write Third
      systemctl --user restart $unit
      said "unknown key 'Third'"
      ln -sf /etc/passwd $file
      systemctl --user reload $unit
      said "focusd.conf belongs to another user, and is ignored"
      systemctl --user is-active $unit
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(
      transcript.output == [
        "focusd.conf:2: unknown key 'First' in [\(section)]", "unknown key 'Second'", "unknown key 'Third'",
        "focusd.conf belongs to another user, and is ignored", "active",
      ], "\(transcript)")
  }
}
