internal import Testing

/// `Systemd/install` on machines without systemd, and for all users.
@Suite(.serialized) struct PlainSystemTests {
  @Test func aBusWithoutSystemdStartsTheDaemonToo() async throws {
    let transcript = try await Script.runInNewHome(
      """
      # Without it dbus-daemon looks in the home that the account has, whatever HOME says.
      export XDG_DATA_HOME=$HOME/.local/share
      dbus-run-session -- bash -euo pipefail -c '
        has_owner() { busctl --user call org.freedesktop.DBus / org.freedesktop.DBus NameHasOwner s org.focusd.Focus1; }
        $0 --binaries "$BINARIES" >/dev/null
        has_owner
        busctl --user get-property org.focusd.Focus1 /org/focusd/Focus1 org.focusd.Focus1.Manager Version
        $0 --uninstall >/dev/null
        has_owner
      ' "$install"
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(transcript.output == ["b false", #"s "1.0.0""#, "b false"], "\(transcript)")
  }

  /// busctl is a part of systemd, and dbus-send of most buses.
  @Test(
    arguments: [
      ("busctl", ["b true", "b false"]),
      ("busctl dbus-send", ["b true", "Neither busctl nor dbus-send is installed", "b true"]),
    ])
  func withoutSystemdsToolsTheDaemonIsStopped(missing: String, output: [String]) async throws {
    let transcript = try await Script.runInNewHome(
      """
      export XDG_DATA_HOME=$HOME/.local/share
      mkdir tools && ln -s /usr/bin/* tools
      (cd tools && rm -f systemctl systemd-run \(missing))
      $install --binaries "$BINARIES" >/dev/null
      PATH=$PWD/tools dbus-run-session -- bash -euo pipefail -c '
        has_owner() { /usr/bin/busctl --user call org.freedesktop.DBus / org.freedesktop.DBus NameHasOwner s org.focusd.Focus1; }
        ~/.local/bin/focusctl list
        has_owner
        $0 --uninstall | grep -o "^Neither.*installed" || true
        has_owner
      ' "$install"
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(transcript.output == output, "\(transcript)")
  }

  /// What is below the home alone is the user's own.
  @Test func whatIsForAllUsersCanBeEnteredByAll() async throws {
    let transcript = try await Script.runInNewHome(
      """
      umask 077
      mkdir home && export HOME=$PWD/home
      $install --binaries "$BINARIES" --prefix "$PWD/all/users" >/dev/null
      DESTDIR=$HOME/package $install --binaries "$BINARIES" --prefix /usr/local >/dev/null
      find all home/package -type d ! -perm 755
      $install --binaries "$BINARIES" >/dev/null
      find home/.local -type d ! -perm 700
      """)
    #expect(transcript.status == 0 && transcript.output.isEmpty && transcript.errors.isEmpty, "\(transcript)")
  }

  /// Root makes user namespaces where users cannot: the kernel's switches say that.
  @Test(
    arguments: [
      ("kernel/apparmor_restrict_unprivileged_userns", 1, "1"), ("kernel/unprivileged_userns_clone", 0, "1"),
      ("kernel/unprivileged_userns_clone", 1, "0"), ("user/max_user_namespaces", 0, "1"),
      ("user/max_user_namespaces", 7, "0"),
    ])
  func rootSeesWhetherUsersMakeUserNamespaces(kernelSwitch: String, value: Int, smaller: String) async throws {
    let transcript = try await Script.runInNewHome(
      """
      as_root() { unshare --user --map-root-user --mount "$@"; }
      as_root true || exit 77
      mkdir -p proc/{kernel,user}
      echo \(value) >proc/\(kernelSwitch)
      as_root bash -euo pipefail -c '
        for name in kernel user; do mount --bind proc/$name /proc/sys/$name; done
        $0 --binaries "$BINARIES" | grep -c "smaller sandbox" || true
      ' "$install"
      """)
    if transcript.status == 77 { try Test.cancel("needs user namespaces: \(transcript.errors)") }
    #expect(transcript.output == [smaller], "\(transcript)")
  }
}
