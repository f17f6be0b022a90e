/// Messages that have arrived and are not handled yet, in their order.
struct Inbox {
  private var messages: [Message?] = []
  private var start = 0

  var isEmpty: Bool { messages.isEmpty }

  mutating func append(_ message: Message) { messages.append(message) }

  /// Takes out the oldest message.
  mutating func popFirst() -> Message? {
    guard start < messages.count else { return nil }
    let first = messages[start]
    messages[start] = nil
    start += 1
    if start == messages.count {
      messages.removeAll(keepingCapacity: true)
      start = 0
    }
    return first
  }
}
