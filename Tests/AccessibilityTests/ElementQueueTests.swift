import AccessibilityBridge
import DBus
import DBusTypes
import Testing

/// The order of writes to one element.
@Suite struct ElementQueueTests {
  /// Writes that a test ends, and what came of them.
  private final class Record {
    var started: [Int] = []
    var completions: [ElementQueue.Completion] = []
    var outcomes: [Int: String] = [:]

    func add(_ number: Int, to queue: ElementQueue?) {
      queue?.add(
        // A completion that is not called is kept until the record goes.
        { [unowned self] done in
          started.append(number)
          completions.append(done)
        },
        { [unowned self] outcome in
          if case .failure(let error) = outcome { outcomes[number] = error.name.text } else { outcomes[number] = "" }
        })
    }

    func end(_ outcome: Result<Void, DBusError> = .success(())) { completions.removeFirst()(outcome) }
  }

  private static let gone = "org.freedesktop.DBus.Error.UnknownObject"

  @Test func eachStartsAfterTheOneBefore() {
    let (queue, record) = (ElementQueue(), Record())
    for number in 0..<3 { record.add(number, to: queue) }
    #expect(record.started == [0])
    record.end()
    #expect(record.started == [0, 1] && record.outcomes == [0: ""])
    record.end(.failure(DBusError(.failed, "refused")))
    #expect(record.started == [0, 1, 2])
    record.end()
    record.add(3, to: queue)
    #expect(record.started == [0, 1, 2, 3])
  }

  @Test func oneTooManyFails() {
    let (queue, record) = (ElementQueue(), Record())
    for number in 0...ElementQueue.limit + 1 { record.add(number, to: queue) }
    #expect(record.outcomes == [ElementQueue.limit + 1: "org.freedesktop.DBus.Error.LimitsExceeded"])
    for _ in 0...ElementQueue.limit { record.end() }
    #expect(record.started == Array(0...ElementQueue.limit))
  }

  @Test(arguments: [ErrorName.unknownObject, .noReply, .timeout, .disconnected])
  func allFailWithTheElement(_ error: ErrorName) {
    let (queue, record) = (ElementQueue(), Record())
    for number in 0..<3 { record.add(number, to: queue) }
    record.end(.failure(DBusError(error, "gone")))
    // What it did not answer may not have been carried out either.
    let others = [ErrorName.noReply, .timeout].contains(error) ? ErrorName.timeout.text : Self.gone
    #expect(record.outcomes == [0: error.text, 1: others, 2: others])
    record.add(3, to: queue)
    #expect(record.started == [0, 3])
  }

  @Test func allFailWithTheQueue() {
    let record = Record()
    var queue: ElementQueue? = ElementQueue()
    for number in 0..<3 { record.add(number, to: queue) }
    queue = nil
    #expect(record.outcomes == [1: Self.gone, 2: Self.gone])
  }
}
