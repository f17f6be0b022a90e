import DBus
import DBusTypes
import EventLoop
import Glibc
import TestSupport
import Testing

@Suite(.ownThreads) struct BatchTests {
  /// The numbers of the signals that a connection receives.
  private final class Received {
    private(set) var numbers: [DBusValue] = []

    init(by receiver: Connection, on loop: EventLoop) throws {
      receiver.attach(to: loop)
      receiver.onMessage = { [weak self] message in
        guard message.interface == testInterface, let arguments = try? message.arguments() else { return }
        self?.numbers += arguments.prefix(1)
      }
      try receiver.addMatch(MatchRule(interface: testInterface))
    }
  }

  private static func signals(_ numbers: Range<Int>, padding: Int = 0) throws -> [OutgoingMessage] {
    try numbers.map { number in
      try .signal(
        path: testPath, interface: testInterface, member: MemberName("S"),
        [.int64(Int64(number)), .string(String(repeating: "x", count: padding))])
    }
  }

  /// How many messages at once, and how long their texts are: within one write, several, and none that is shared.
  @Test(arguments: [(1, 0), (2, 0), (255, 8), (1000, 100), (40, 5_000), (3, 100_000), (50, 33_000)])
  func messagesArriveOnceAndInOrder(count: Int, padding: Int) async throws {
    try await PrivateBus.with { bus in
      let (loop, sender, receiver) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      sender.attach(to: loop)
      let received = try Received(by: receiver, on: loop)
      try sender.send(Self.signals(0..<count, padding: padding))
      try sender.send(Self.signals(count..<count + 1)[0])
      try sender.send(Self.signals(count + 1..<2 * count + 1, padding: padding))
      try loop.turn(until: "signals") { received.numbers.count > 2 * count }
      #expect(received.numbers == (0...2 * count).map { .int64(Int64($0)) })
    }
  }

  @Test func whatTheBusDoesNotReadYetIsSentLater() async throws {
    try await PrivateBus.with { bus in
      let (loop, sender, receiver) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      sender.attach(to: loop)
      let received = try Received(by: receiver, on: loop)
      let busProcess = pid_t(try sender.processID(of: .bus))
      kill(busProcess, SIGSTOP)
      for start in stride(from: 0, to: 20_000, by: 100) { try sender.send(Self.signals(start..<start + 100)) }
      kill(busProcess, SIGCONT)
      try loop.turn(until: "signals") { received.numbers.count >= 20_000 }
      #expect(received.numbers == (0..<20_000).map { .int64(Int64($0)) })
    }
  }

  @Test func repliesAndCallsKeepTheirNumbersApart() async throws {
    try await PrivateBus.with { bus in
      let (loop, client, service) = (EventLoop(), try Connection(to: bus), try Connection(to: bus))
      client.attach(to: loop)
      service.attach(to: loop)
      var held: [Message] = []
      service.onMessage = { if $0.kind == .methodCall { held.append($0) } }
      var answers: [Int: [DBusValue]] = [:]
      for number in 0..<100 {
        try client.call(client.message(to: service, "Echo", [.int32(Int32(number))])) { result in
          answers[number] = try? result.get().arguments()
        }
      }
      try loop.turn(until: "calls") { held.count == 100 }
      try service.send(held.map { try $0.reply($0.arguments()) })
      try loop.turn(until: "replies") { answers.count == 100 }
      #expect(answers == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, [.int32(Int32($0))]) }))
    }
  }

  @Test func aConnectionThatIsGoneIsAnError() async throws {
    try await PrivateBus.with { bus in
      let (loop, sender) = (EventLoop(), try Connection(to: bus))
      sender.attach(to: loop)
      var isGone = false
      sender.onDisconnect = { isGone = true }
      try await bus.stop()
      try loop.turn(until: "end") { isGone }
      let signals = try Self.signals(0..<2)
      #expect(throws: DBusError.self) { try sender.send(signals) }
    }
  }
}
