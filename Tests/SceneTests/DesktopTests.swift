import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The desktop that the tests of this project have.
@Suite struct DesktopTests {
  @Test func aCrashedDaemonIsStartedAgainWithWhatItSaved() async throws {
    try await TestDesktop.with { desktop in
      let (first, client) = (desktop.daemon.processID, try await desktop.peer())
      try await client.register("a", [("demo.Form.Number", .int32(1))])
      try await desktop.crash()
      #expect(desktop.daemon.processID != first)
      #expect(try await client.owners() == ["a": client.name])
    }
  }

  @Test func aDaemonThatEndsByItselfIsNoticed() async throws {
    await #expect(throws: ProcessDied.self) {
      try await TestDesktop.with { desktop in
        desktop.daemon.terminate(9)
        try await desktop.daemon.finish()
      }
    }
  }

  @Test(.enabled(if: TestDesktop.canDisplay, "Xvfb is not installed"))
  func twoDesktopsHaveADisplayEach() async throws {
    // The first bytes of a client, and of the server's answer: 1 lets it in.
    let script = """
      import os, socket
      s = socket.socket(socket.AF_UNIX)
      s.connect("/tmp/.X11-unix/X" + os.environ["DISPLAY"].removeprefix(":"))
      s.sendall(b"l\\0\\x0b\\0" + bytes(8))
      print(s.recv(1)[0])
      """
    try await TestDesktop.with(isServed: false) { desktop in
      let name = try await desktop.display()
      #expect(try await desktop.display() == name)
      try await TestDesktop.with(isServed: false) { other in
        let second = try await other.display()
        #expect(second != name)
        for each in [desktop, other] {
          let result = try await each.run(["/usr/bin/python3", "-c", script])
          #expect(result.text == "1", "\(result)")
        }
      }
    }
  }
}
