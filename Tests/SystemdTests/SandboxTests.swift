internal import Foundation
internal import Testing

/// What the daemon must not be able to do, tried in its place: a probe is installed as `focusd`.
@Suite struct SandboxTests {
  @Test func theDaemonReachesItsBusAndItsStateAndNothingElse() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "focusd-probe-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let probe = directory.appending(path: "probe")
    try Self.probe.write(to: probe, atomically: false, encoding: .utf8)

    let transcript = try await Script.runInSession(
      staging: [probe.path()],
      """
      mkdir ~/probes
      cp /run/stage/focus* ~/probes/
      install -m 755 /run/stage/probe ~/probes/focusd
      echo secret >~/secret
      /run/stage/Systemd/install --binaries ~/probes >/dev/null
      systemctl --user start focusd.service
      cat ~/.config/focusd/results ~/.local/state/focusd/results 2>/dev/null || true
      for property in LimitCORE MemoryHigh MemoryMax MemorySwapMax OOMPolicy; do echo "$property=$(show $property)"; done
      [ ! -e ~/probe ] && [ ! -e "$XDG_RUNTIME_DIR/probe" ]
      """)
    #expect(transcript.status == 0, "\(transcript)")
    #expect(
      transcript.output == [
        "state yes", "bus yes", "manager no", "read-home no", "replace-itself no", "write-system no", "shared-tmp no",
        "inet no", "inet6 no", "network no", "map-writable-executable no", "make-executable no", "namespaces no",
        "privileges no", "core no", "raise-core no", "unlimited-memory no", "swap no", "LimitCORE=0",
        "MemoryHigh=671088640", "MemoryMax=805306368", "MemorySwapMax=0", "OOMPolicy=stop",
      ], "\(transcript)")
  }

  /// Each line tries one thing; the last process tells systemd that it is ready.
  private static let probe = """
    #!/bin/bash
    make_executable='
    import ctypes, mmap, sys
    page = mmap.mmap(-1, 4096, prot=3)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    sys.exit(ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), 4096, 5) != 0)'
    can() { if eval "$2" >/dev/null 2>&1; then echo "$1 yes"; else echo "$1 no"; fi; }
    {
      can state 'touch "$STATE_DIRECTORY/probe"'
      can bus 'busctl --user list'
      can manager '[ -S "$XDG_RUNTIME_DIR/systemd/private" ]'
      can read-home 'cat ~/secret'
      touch ~/probe "$XDG_RUNTIME_DIR/probe"
      can replace-itself 'echo >~/.local/bin/focusd'
      can write-system 'touch /etc/probe || touch /var/lib/probe || touch /run/probe'
      can shared-tmp '[ -n "$(ls /tmp)" ]'
      can inet 'python3 -c "import socket; socket.socket(socket.AF_INET)"'
      can inet6 'python3 -c "import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)"'
      can network 'exec 3<>/dev/udp/127.0.0.1/9'
      can map-writable-executable 'python3 -c "import mmap; mmap.mmap(-1, 4096, prot=7)"'
      can make-executable 'python3 -c "$make_executable"'
      can namespaces 'unshare --user true'
      can privileges 'grep -q "NoNewPrivs:.*0" /proc/self/status || ! grep -q "CapBnd:.*0000000000000000" /proc/self/status'
      can core 'cd "$STATE_DIRECTORY"; python3 -c "import os; os.abort()"; ls core*'
      can raise-core 'ulimit -c unlimited'
      # Without the controller, as in some containers, there is no file, and nothing to limit.
      cgroup=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
      can unlimited-memory 'grep max "$cgroup/memory.max" || grep max "$cgroup/memory.high"'
      can swap 'grep -v "^0$" "$cgroup/memory.swap.max"'
    } >"$STATE_DIRECTORY/results"
    exec /usr/bin/python3 -c '
    import os, signal, socket
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.connect(os.environ["NOTIFY_SOCKET"])
    manager.send(b"READY=1")
    signal.pause()'
    """
}
