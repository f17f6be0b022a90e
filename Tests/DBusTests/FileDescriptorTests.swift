import DBus
import DBusTypes
import EventLoop
import Glibc
import TestSupport
import Testing

@Suite(.ownThreads) struct FileDescriptorTests {
  /// Which file a descriptor stands for, whatever its number.
  private static func identity(_ descriptor: UnixFD) -> [UInt] {
    var status = stat()
    fstat(descriptor.number, &status)
    return [UInt(status.st_dev), UInt(status.st_ino)]
  }

  private static func pipe() throws -> [UnixFD] {
    var ends: [Int32] = [-1, -1]
    try #require(Glibc.pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends.map { UnixFD(owning: $0) }
  }

  @Test func descriptorsPassThroughGDBusAndBack() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let client = try Connection(to: bus)
      let ends = try Self.pipe()
      let value = DBusValue.variant(
        .structure([.unixFD(ends[0]), .array(try DBusArray(of: .unixFD, [.unixFD(ends[1])]))]))
      let answer = try client.call(Connection.message(to: peer, "Echo", [value])).arguments()
      guard case .structure(let members)? = answer.first?.variantContent, members.count == 2,
        case .unixFD(let first) = members[0], case .array(let rest) = members[1], case .unixFD(let second)? = rest.first
      else {
        Issue.record("\(answer)")
        return
      }
      #expect(Self.identity(first) == Self.identity(ends[0]))
      #expect(Self.identity(second) == Self.identity(ends[1]))
      #expect(first.number != ends[0].number)
    }
  }

  @Test func aDescriptorIsClosedWithItsLastReference() throws {
    var ends = try Self.pipe()
    _ = fcntl(ends[0].number, F_SETFL, O_NONBLOCK)
    var byte: UInt8 = 0
    do {
      let message = try OutgoingMessage.signal(
        path: testPath, interface: testInterface, member: MemberName("Signal"), [.unixFD(ends.removeLast())])
      #expect(read(ends[0].number, &byte, 1) == -1)
      withExtendedLifetime(message) {}
    }
    // Nobody holds the other end any more, but for processes of other tests that are about to run another program.
    var end = pollfd(fd: ends[0].number, events: Int16(POLLIN), revents: 0)
    #expect(poll(&end, 1, 60_000) == 1)
    #expect(read(ends[0].number, &byte, 1) == 0)
  }

  /// A bus takes descriptors for those of one message: what follows goes in a write of its own.
  @Test func messagesAroundOneWithADescriptorArrive() async throws {
    try await PrivateBus.with { bus in
      let (loop, sender, receiver) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      receiver.attach(to: loop)
      var received: [Int] = []
      receiver.onMessage = { message in
        guard message.interface == testInterface, let values = try? message.arguments() else { return }
        received.append(values.count(where: \.holdsUnixFD))
      }
      let end = try Self.pipe()[0]
      func call(_ values: [DBusValue]) throws -> OutgoingMessage {
        var call = try sender.message(to: receiver, "Call", values)
        call.disableReply()
        return call
      }
      try sender.send([
        call([.byte(1)]), call([.unixFD(end)]), call([.byte(2)]), call([.unixFD(end), .unixFD(end)]), call([]),
      ])
      try loop.turn(until: "messages") { received.count == 5 }
      #expect(received == [0, 1, 0, 2, 0])
      #expect(sender.isConnected)
    }
  }

  @Test func tooManyDescriptorsAreAnErrorAndTheConnectionStays() async throws {
    try await PrivateBus.with { bus in
      let client = try Connection(to: bus)
      let end = try Self.pipe()[0]
      let peer = try await GDBusPeer(on: bus)
      func message(_ count: Int) throws -> OutgoingMessage {
        let descriptors = [DBusValue](repeating: .unixFD(end), count: count)
        return try Connection.message(to: peer, "Echo", [.variant(.array(DBusArray(of: .unixFD, descriptors)))])
      }
      #expect(throws: Never.self) { try client.call(message(MessageBody.unixFDLimit)) }
      let error = try #require(throws: DBusError.self) { try client.call(message(MessageBody.unixFDLimit + 1)) }
      #expect(error.name == .limitsExceeded)
      #expect(client.isConnected)
    }
  }
}
