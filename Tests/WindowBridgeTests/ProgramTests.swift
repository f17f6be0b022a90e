import TestSupport
import Testing

/// The program's command line and its exit status.
@Suite struct ProgramTests {
  @Test func exitStatusAndMessages() async throws {
    // (the arguments, the environment, the status, what is said)
    let cases: [([String], [String: String], Int32, String)] = [
      (["--help"], [:], 0, "Usage: focusd-windows"), (["--version"], [:], 0, "focusd-windows "),
      (["--nonsense"], [:], 2, "unknown option '--nonsense'; see focusd-windows --help"),
      (["--ignore"], [:], 2, "option '--ignore' requires an argument: an application's identifier"),
      (["x"], [:], 2, "unexpected argument 'x'"), ([], [:], 3, "no desktop: none of SWAYSOCK"),
      ([], ["XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "GNOME"], 3, "gnome-extensions enable"),
      ([], ["WAYLAND_DISPLAY": "/nonexistent"], 1, "connect to /nonexistent: No such file or directory"),
      (["--source", "kde"], [:], 2, "one of sway, hyprland, niri, wayland, gnome, kwin, x11, i3, not 'kde'"),
      (["--source", "gnome"], [:], 3, "does not name the socket or the display of gnome"),
      (["--source", "i3"], [:], 3, "does not name the socket or the display of i3"),
      ([], ["DISPLAY": ":4711"], 1, "cannot connect to the X server at :4711"),
      ([], ["SWAYSOCK": "/nonexistent"], 1, "connect to /nonexistent: No such file or directory"),
      ([], ["SWAYSOCK": String(repeating: "x", count: 300)], 1, "File name too long"),
    ]
    try await PrivateBus.with { bus in
      for (arguments, environment, status, said) in cases {
        let result = try await bus.start([Products.windowBridge] + arguments, extra: environment).result()
        #expect(result.status == status, "\(arguments) \(environment)")
        #expect((result.output + result.errors).contains { $0.contains(said) }, "\(result)")
      }
    }
  }
}
