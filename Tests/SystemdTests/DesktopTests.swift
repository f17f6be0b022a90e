internal import Foundation
internal import Testing

/// The window bridge as a service that is there before any desktop, and outlives each.
@Suite(.serialized, .enabled(if: DesktopPrograms.canRun, "needs sway, foot, i3, xterm and Xvfb: .ci/setup test"))
struct DesktopTests {
  /// The desktops as Debian starts them, without a line in their configuration; `is SECONDS TEXT COMMAND…` waits until
  /// a command prints a text, and prints it.
  static let functions = """
    # Programs start slowly beside other tests.
    patience=60
    unit() { systemctl --user show focusd-windows --value --property "$1"; }
    title() { /run/stage/focusctl get org.focusd.Window.Title 2>/dev/null; }
    is() {
      local deadline=$(($(date +%s%N) + $1 * 1000000000)) text=$2 shown=
      shift 2
      until shown=$("$@" || true) && [ "$shown" = "$text" ]; do
        [ "$(date +%s%N)" -lt $deadline ] || { echo "$* is '$shown', not '$text'" >&2; exit 1; }
        sleep 0.02
      done
      echo "$shown"
    }
    begin_sway() {
      WLR_BACKENDS=headless WLR_LIBINPUT_NO_DEVICES=1 WLR_RENDERER=pixman sway >"$HOME/sway.log" 2>&1 &
      compositor=$!
      begun() { ls "$XDG_RUNTIME_DIR" | grep -c "^sway-ipc.*$compositor"; }
      is "$patience" 1 begun >/dev/null
    }
    wayland_window() {
      WAYLAND_DISPLAY=wayland-1 foot -T "$1" sleep 1000 2>/dev/null &
      there() { swaymsg -s "$XDG_RUNTIME_DIR/sway-ipc.$UID.$compositor.sock" -t get_tree | grep -c "\\"name\\": \\"$1\\""; }
      is "$patience" 1 there "$1" >/dev/null
    }
    begin_i3() {
      # As after its first start, at which it asks which keys to use, in a window that takes the keyboard.
      mkdir -p ~/.config/i3
      sed /i3-config-wizard/d /etc/i3/config >~/.config/i3/config
      # The first free number would not do: the locks of other servers name processes that are not seen here.
      exec {display}< <(exec Xvfb ":$((1000 + RANDOM))" -displayfd 1 -noreset 2>/dev/null)
      server=$!
      read -r -t "$patience" number <&"$display" || { echo 'no X server' >&2; exit 1; }
      DISPLAY=:$number /etc/X11/Xsession i3 >/dev/null 2>&1 &
      # Without i3 it says "no such atom on any window".
      there() { DISPLAY=:$number xprop -root _NET_SUPPORTING_WM_CHECK | grep -c 'window id # 0x'; }
      is "$patience" 1 there >/dev/null
    }
    install_focusd
    systemctl --user enable --quiet --now focusd-windows

    """

  @Test(arguments: SessionBus.allCases)
  func enabledOnceItFindsSwayWhichStartsLater(bus: SessionBus) async throws {
    let transcript = try await Script.runInSession(
      on: bus,
      Self.functions + """
        systemctl --user stop focusd-windows default.target
        systemctl --user start default.target
        unit ActiveState
        unit StatusText
        begin_sway
        wayland_window mail
        is "$patience" mail title
        is "$patience" 'Following sway' unit StatusText
        kill -KILL $compositor
        """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(transcript.output == ["active", "Waiting for a desktop", "mail", "Following sway"], "\(transcript)")
  }

  @Test(arguments: SessionBus.allCases)
  func itFindsI3ByTheDisplayThatItsLoginScriptImports(bus: SessionBus) async throws {
    let transcript = try await Script.runInSession(
      on: bus,
      Self.functions + """
        begin_i3
        DISPLAY=:$number xterm -T mail -e sleep 1000 2>/dev/null &
        is "$patience" 1 eval 'DISPLAY=:$number xprop -root _NET_CLIENT_LIST | grep -c "0x"' >/dev/null
        is "$patience" mail title
        unit StatusText
        kill $server
        """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(transcript.output == ["mail", "Following x11"], "\(transcript)")
  }

  /// What one desktop leaves behind, sockets and variables, does not hide the next.
  @Test func itFollowsOneDesktopAfterAnother() async throws {
    let transcript = try await Script.runInSession(
      Self.functions + """
        first=$(unit MainPID)
        begin_sway
        wayland_window one
        is "$patience" one title
        kill -KILL $compositor
        begin_i3
        is "$patience" 'Following x11' unit StatusText
        kill $server
        begin_sway
        is "$patience" 'Following sway' unit StatusText
        wayland_window two
        is "$patience" two title
        kill -KILL $compositor
        is "$patience" 0 eval '/run/stage/focusctl list | grep -c window'
        [ "$(unit MainPID)" = "$first" ]
        unit NRestarts
        """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(
      transcript.output == ["one", "Following x11", "Following sway", "two", "0", "0"], "\(transcript)")
  }
}

enum DesktopPrograms {
  static let canRun =
    (["sway", "foot", "i3", "xterm", "xprop", "Xvfb"].map { "/usr/bin/" + $0 } + ["/etc/X11/Xsession"])
    .allSatisfy { FileManager.default.fileExists(atPath: $0) }
}
