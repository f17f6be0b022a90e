internal import Testing

/// The daemon as a service of a real `systemd --user`, on either bus.
@Suite(.serialized) struct ServiceTests {
  private static let started = "Started focusd.service - Focused values of the desktop session."

  @Test(arguments: SessionBus.allCases)
  func theFirstCallStartsTheDaemon(bus: SessionBus) async throws {
    let transcript = try await Script.runInSession(
      on: bus,
      """
      install_focusd
      systemctl --user is-enabled focusd.service
      systemctl --user is-active focusd.service || true
      version
      systemctl --user status focusd.service | grep -o 'active (running)'
      show StatusText
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(
      transcript.output == [
        "enabled", "inactive", #"s "1.0.0""#, "active (running)", "0 fields, nothing focused",
      ], "\(transcript)")
  }

  @Test(arguments: SessionBus.allCases)
  func twentyFirstCallsAtOnceStartOneDaemon(bus: SessionBus) async throws {
    let transcript = try await Script.runInSession(
      on: bus,
      """
      install_focusd
      for caller in {1..20}; do version & callers+=($!); done
      for caller in "${callers[@]}"; do wait "$caller"; done
      wc -l <"/sys/fs/cgroup$(show ControlGroup)/cgroup.procs"
      show NRestarts
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(transcript.output == Array(repeating: #"s "1.0.0""#, count: 20) + ["1", "0"], "\(transcript)")
  }

  @Test(arguments: SessionBus.allCases)
  func aKilledDaemonComesBackByItself(bus: SessionBus) async throws {
    let transcript = try await Script.runInSession(
      on: bus,
      """
      install_focusd
      version
      first=$(show MainPID)
      kill -KILL "$first"
      logged 2 Started
      version
      show NRestarts
      [ "$(show MainPID)" != "$first" ]
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(
      transcript.output == [#"s "1.0.0""#, Self.started, Self.started, #"s "1.0.0""#, "1"], "\(transcript)")
  }

  /// A field that lingers, one whose owner stays, and a watcher who does: killed and restarted, nobody misses anything.
  @Test(arguments: SessionBus.allCases)
  func fieldsSurviveAKillAndARestart(bus: SessionBus) async throws {
    let transcript = try await Script.runInSession(
      on: bus,
      """
      install_focusd
      version >/dev/null
      focusctl=/run/stage/focusctl
      $focusctl register text1 demo.Form.Number=1 --focus
      exec {owner}< <(exec /usr/bin/python3 -u - 2>&1 <<'PYTHON'
      from gi.repository import Gio, GLib
      bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
      values = GLib.Variant("(sa{sv}a{sv})", ("owned", {"demo.Form.Text": GLib.Variant("s", "mine")}, {}))
      bus.call_sync("org.focusd.Focus1", "/org/focusd/Focus1", "org.focusd.Focus1.Manager", "Register", values, None,
          Gio.DBusCallFlags.NONE, -1, None)
      print("registered")
      GLib.MainLoop().run()
      PYTHON
      )
      owner_process=$!
      read -r -t 60 line <&"$owner" && echo "$line"
      exec {watch}< <(exec $focusctl watch demo.Form.Number)
      watch_process=$!
      # Without a daemon there is nothing to show, and then what there was.
      shown() { local line=; until [ "$line" = "$1" ]; do read -r -t 60 line <&"$watch"; done; echo "watch: $line"; }
      shown 1
      kill -KILL "$(show MainPID)"
      logged 2 Started
      $focusctl get demo.Form.Number
      $focusctl get --field owned demo.Form.Text
      $focusctl update demo.Form.Number +1
      shown 2
      systemctl --user restart focusd.service
      $focusctl get demo.Form.Number
      $focusctl get --field owned demo.Form.Text
      $focusctl update demo.Form.Number +1
      shown 3
      kill "$owner_process" "$watch_process"
      while $focusctl get --field owned demo.Form.Text >/dev/null 2>&1; do sleep 0.05; done
      systemctl --user restart focusd.service
      $focusctl list | cut -d ' ' -f 1
      journalctl --user -u focusd.service --output cat --priority err
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(
      transcript.output == [
        "text1", "registered", "watch: 1", Self.started, Self.started, "1", "mine", "watch: 2", "2", "mine", "watch: 3",
        "text1",
      ], "\(transcript)")
  }

  /// As at the end of a session: what loses its bus has failed.
  @Test(arguments: SessionBus.allCases) func theBusStopsLast(bus: SessionBus) async throws {
    let transcript = try await Script.runInSession(
      on: bus,
      """
      install_focusd
      units=(focusd focusd-accessibility focusd-menus focusd-players focusd-windows)
      systemctl --user start "${units[@]}"
      systemctl --user is-active "${units[@]}" | sort -u
      # One transaction, as that which ends the manager: `systemctl stop` makes one for each unit.
      mkdir -p ~/.config/systemd/user
      printf '[Unit]\\nConflicts=dbus.socket dbus.service %s\\n' "${units[*]/%/.service}" >~/.config/systemd/user/end.target
      systemctl --user daemon-reload
      systemctl --user start end.target
      for unit in "${units[@]}"; do systemctl --user show "$unit" --value --property Result; done | sort -u
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(transcript.output == ["active", "success"], "\(transcript)")
  }

  /// systemd before 254 has the state in the directory of the settings, and follows no link there; later ones follow it.
  @Test(arguments: SessionBus.allCases) func whoeverCallsADaemonThatCannotStartIsTold(bus: SessionBus) async throws {
    let reason = bus == .daemon ? "has not started" : "startup job failed"
    let transcript = try await Script.runInSession(
      on: bus,
      """
      install_focusd
      systemctl --user stop focusd
      rm -rf ~/.config/focusd ~/.local/state/focusd
      mkdir -p ~/.local/state
      touch ~/.config/focusd ~/.local/state/focusd
      # The bus may be held up for longer than it is asked.
      for round in {1..5}; do
        status=0
        said=$(/run/stage/focusctl --timeout 2 list 2>&1) || status=$?
        ! grep -o '\(reason)' <<<"$said" || break
      done
      echo "$status"
      show NRestarts
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(transcript.output == [reason, "3", "0"], "\(transcript)")
  }

  @Test func aStoppedDaemonEndsInOrderAndStaysAwayUntilCalled() async throws {
    let transcript = try await Script.runInSession(
      """
      install_focusd
      version
      systemctl --user stop focusd.service
      for property in ActiveState Result ExecMainStatus NRestarts; do show $property; done
      version
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(
      transcript.output == [#"s "1.0.0""#, "inactive", "success", "0", "0", #"s "1.0.0""#], "\(transcript)")
  }

  @Test func theWatchdogIsFedAndADaemonThatHangsIsReplaced() async throws {
    let transcript = try await Script.runInSession(
      """
      install_focusd
      mkdir -p "$XDG_RUNTIME_DIR/systemd/user/focusd.service.d"
      printf '[Service]\\nWatchdogSec=9s\\n' >"$XDG_RUNTIME_DIR/systemd/user/focusd.service.d/watchdog.conf"
      systemctl --user daemon-reload
      version
      first=$(show WatchdogTimestampMonotonic) deadline=$(($(date +%s) + 30))
      until [ "$(show WatchdogTimestampMonotonic)" != "$first" ]; do (($(date +%s) < deadline)); done
      pid=$(show MainPID)
      [ "$pid" != 0 ]
      kill -STOP "$pid"
      logged 1 'Watchdog timeout'
      logged 2 Started
      version
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(
      transcript.output == [
        #"s "1.0.0""#, "focusd.service: Watchdog timeout (limit 9s)!", Self.started, Self.started, #"s "1.0.0""#,
      ], "\(transcript)")
  }

  @Test func systemdFindsNothingWrongWithTheUnit() async throws {
    let transcript = try await Script.runInSession(
      """
      install_focusd
      systemd-analyze --user verify --man=no ~/.local/share/systemd/user/focusd*.service
      systemd-analyze --user security --no-pager --threshold=10 focusd.service >/dev/null
      """)
    #expect(transcript.status == 0 && transcript.output.isEmpty && transcript.errors.isEmpty, "\(transcript)")
  }
}
