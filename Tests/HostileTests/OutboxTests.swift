import DBus
import DBusTypes
import Testing

@testable import FocusService

/// What one message causes is sent as it is made: a part of it waits at most.
@Suite struct OutboxTests {
  @Test func copiesOfAReceivedSignalCountAsMuchAsItDoes() throws {
    let path = try ObjectPath("/object")
    let text = DBusValue.string(String(repeating: "x", count: (1 << 20) - 5))
    let sent = try OutgoingMessage.signal(
      path: path, interface: InterfaceName("demo.A"), member: MemberName("Said"), [text])
    let bytes = try sent.marshalled()
    let received = try bytes.withUnsafeBufferPointer { try Message(demarshalling: $0) }
    #expect(received.measuredBodySize == 1 << 20)
    var outbox = Outbox()
    var copies = 0
    while !outbox.isFull, copies < 32 {
      outbox.add(signal: try received.emittedAgain(from: path), tellsOfChange: false)
      copies += 1
    }
    #expect(copies == 9)
  }
}
