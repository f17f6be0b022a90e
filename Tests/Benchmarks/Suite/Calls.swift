internal import DBus
internal import DBusTypes

/// Something that is called again and again: who, and what with.
struct CallTarget {
  let name: String
  let destination: BusName
  let processes: [Int32]
  let message: (Int) throws -> Message
}

/// Calls of several targets in turn, so that what the machine does meanwhile falls on all alike.
struct CallBenchmark {
  let connection: Connection
  let count: Int

  /// What was measured of one target.
  struct Result {
    let samples: Samples
    /// Processor time of each of the target's processes for one call, in microseconds.
    let processorTime: [Double]
  }

  /// Calls each target `count` times, one call of each after another.
  func run(_ targets: [CallTarget]) throws -> [Result] {
    var samples = targets.map { _ in Samples() }
    var processor = targets.map { $0.processes.map { _ in 0.0 } }
    let batch = 100
    for start in stride(from: 0, to: count, by: batch) {
      for (index, target) in targets.enumerated() {
        let before = target.processes.map { ProcessFacts.processorTime($0) }
        for number in start..<min(start + batch, count) {
          let message = try target.message(number)
          let began = now()
          _ = try connection.call(message)
          samples[index].add(now() - began)
        }
        for (process, used) in zip(target.processes.indices, before) {
          processor[index][process] += ProcessFacts.processorTime(target.processes[process]) - used
        }
      }
    }
    return zip(samples, processor).map { Result(samples: $0, processorTime: $1.map { $0 / Double(count) }) }
  }

  /// How many calls a second a target answers with 64 of them under way.
  func throughput(_ target: CallTarget) throws -> Double {
    let loop = EventLoop()
    connection.attach(to: loop)
    defer { connection.detach() }
    var sent = 0
    var answered = 0
    func send() throws {
      sent += 1
      try connection.call(try target.message(sent)) { _ in
        answered += 1
        if sent < count { try? send() }
        if answered == count { loop.stop() }
      }
    }
    let began = now()
    for _ in 0..<min(64, count) { try send() }
    loop.run()
    return Double(count) / (now() - began) * 1e6
  }
}
