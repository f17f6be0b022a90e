import DBus
import DBusTypes
import EventLoop
import Glibc
import TestSupport
import Testing

@Suite(.ownThreads) struct BusTests {
  @Test func aNameHasOneOwner() async throws {
    try await PrivateBus.with { bus in
      let (first, second) = (try Connection(to: bus), try Connection(to: bus))
      let name = try BusName("test.Name")
      #expect(try first.owner(of: name) == nil)
      #expect(try first.requestName(name))
      #expect(try first.requestName(name))
      #expect(try !second.requestName(name))
      #expect(try second.owner(of: name) == first.uniqueName)
      #expect(try second.processID(of: name) == UInt32(getpid()))
      #expect(throws: DBusError.self) { try second.processID(of: BusName("test.nobody")) }
    }
  }

  /// A bus that comes back at the same address has another identity.
  @Test(arguments: [
    ("unix:path=/run/bus,guid=0123456789abcdef0123456789abcdef", "unix:path=/run/bus"),
    ("unix:guid=0123456789abcdef0123456789abcdef,path=/run/bus", "unix:path=/run/bus"),
    ("unix:path=/a,guid=00;tcp:guid=00,host=b,port=1;autolaunch:", "unix:path=/a;tcp:host=b,port=1;autolaunch:"),
    ("unix:path=/guid=0", "unix:path=/guid=0"), ("nonsense", "nonsense"), ("", ""),
  ])
  func anAddressIsTakenWithoutItsIdentity(address: String, taken: String) {
    #expect(Connection.Bus.withoutGUID(address) == taken)
  }

  @Test(arguments: [":1.5", "org.freedesktop.DBus"])
  func namesThatNobodyMayHaveAreRefused(text: String) async throws {
    try await PrivateBus.with { bus in
      let client = try Connection(to: bus)
      #expect(throws: DBusError.self) { try client.requestName(BusName(text)) }
      #expect(client.isConnected)
    }
  }

  @Test func theNameOfAConnectionThatEndsIsFreeAgain() async throws {
    try await PrivateBus.with { bus in
      let (loop, watcher) = (EventLoop(), try Connection(to: bus))
      watcher.attach(to: loop)
      var owners: [[DBusValue]] = []
      watcher.onMessage = { if $0.member?.text == "NameOwnerChanged" { owners.append((try? $0.arguments()) ?? []) } }
      let name = try BusName("test.Name")
      try watcher.addMatch(
        MatchRule(sender: .bus, interface: .bus, member: MemberName("NameOwnerChanged"), arguments: [0: name.text]))
      var owner: Connection? = try Connection(to: bus)
      let unique = owner?.uniqueName?.text ?? ""
      #expect(try owner?.requestName(name) == true)
      owner = nil
      try loop.turn(until: "signals") { owners.count == 2 }
      #expect(
        owners == [
          [.string(name.text), .string(""), .string(unique)], [.string(name.text), .string(unique), .string("")],
        ])
      #expect(try watcher.requestName(name))
    }
  }

  /// Texts in which a match rule's quotes could go wrong.
  @Test(arguments: ["", "a", "'", "''", "a'b", "\\", "\\'", "'\\''", "a,b", "a='b',c", "é", " ", "'a'", "\"", "=\n"])
  func rulesMatchTheirTextAndNoOther(text: String) async throws {
    try await PrivateBus.with { bus in
      let (loop, sender, receiver) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      receiver.attach(to: loop)
      var received: [[DBusValue]] = []
      receiver.onMessage = {
        if $0.isSignal(testInterface, MemberName(known: "S")) { received.append((try? $0.arguments()) ?? []) }
      }
      try receiver.addMatch(MatchRule(interface: testInterface, arguments: [0: text]))
      try receiver.addMatch(MatchRule(interface: testInterface, arguments: [1: "end"]))
      func emit(_ values: String...) throws {
        try sender.send(
          .signal(path: testPath, interface: testInterface, member: MemberName("S"), values.map { .string($0) }))
      }
      try emit(text + "x", "")
      try emit(text, "")
      try emit("x" + text, "")
      try emit("", "end")
      try loop.turn(until: "signals") { received.last?.last == .string("end") }
      #expect(received == [[.string(text), .string("")], [.string(""), .string("end")]])
    }
  }

  @Test func everyPartOfARuleCounts() async throws {
    try await PrivateBus.with { bus in
      let (loop, sender, receiver) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      receiver.attach(to: loop)
      var received: [String] = []
      receiver.onMessage = { message in
        guard message.kind == .signal, message.sender == sender.uniqueName else { return }
        received.append("\(message.path?.text ?? "") \(message.interface?.text ?? "") \(message.member?.text ?? "")")
      }
      try receiver.addMatch(
        MatchRule(
          sender: sender.uniqueName, path: ObjectPath("/a"), interface: InterfaceName("a.b"), member: MemberName("M")))
      try receiver.addMatch(MatchRule(pathNamespace: ObjectPath("/n"), interface: InterfaceName("a.b")))
      for (path, interface, member) in [
        ("/a", "a.b", "M"), ("/b", "a.b", "M"), ("/a", "a.c", "M"), ("/a", "a.b", "N"), ("/n", "a.b", "X"),
        ("/n/x", "a.b", "X"), ("/nx", "a.b", "X"), ("/n", "a.b", "End"),
      ] {
        try sender.send(
          .signal(path: ObjectPath(path), interface: InterfaceName(interface), member: MemberName(member), []))
      }
      try loop.turn(until: "signals") { received.last?.hasSuffix("End") == true }
      #expect(received == ["/a a.b M", "/n a.b X", "/n/x a.b X", "/n a.b End"])
    }
  }

  @Test(arguments: [[64: "a"], [-1: "a"], [0: "a\0b"], [0: String(repeating: "a", count: 10_000)]] as [[Int: String]])
  func rulesThatTheBusCannotTakeAreErrors(arguments: [Int: String]) async throws {
    try await PrivateBus.with { bus in
      let client = try Connection(to: bus)
      #expect(throws: DBusError.self) { try client.addMatch(MatchRule(arguments: arguments)) }
      #expect(client.isConnected)
    }
  }
}
