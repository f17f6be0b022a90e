internal import Glibc

/// Who reads and writes through one wrapper: a task, or a thread outside of tasks.
struct Reader: Equatable {
  private let number: UInt64
  private let wrapper: ObjectIdentifier

  private static let threadBit: UInt64 = 1 << 63

  init(of wrapper: AnyObject) {
    // A task is a job, and says its number only as one; its address is another task's after its end.
    let task = withUnsafeCurrentTask { $0.map { jobNumber(unsafeBitCast($0, to: UnownedJob.self)) } }
    number = task ?? UInt64(pthread_self()) | Self.threadBit
    self.wrapper = ObjectIdentifier(wrapper)
  }
}

/// The number of a job that the description of an `UnownedJob` shows.
@_silgen_name("swift_task_getJobTaskId")
private func jobNumber(_ job: UnownedJob) -> UInt64

/// What each of the latest readers of one key read last.
struct Readings {
  private static let most = 64

  private var readers: [Reader] = []
  /// The state that each has read, 0 for none; apart from the rest, since every read looks at it.
  private var states: [UInt64] = []
  private var readings: [SlotReading?] = []
  /// Where the next new reader's goes, in place of the oldest.
  private var next = 0
  /// Where the last one that was looked for is.
  private var last = 0

  private mutating func index(of reader: Reader) -> Int? {
    if last < readers.count, readers[last] == reader { return last }
    guard let index = readers.firstIndex(of: reader) else { return nil }
    last = index
    return index
  }

  /// Whether `reader` has not read `state` before.
  mutating func mustNote(_ reader: Reader, _ state: UInt64) -> Bool {
    index(of: reader).map { states[$0] != state } ?? true
  }

  mutating func note(_ reader: Reader, _ reading: SlotReading?) {
    let index = index(of: reader) ?? add(reader)
    states[index] = reading?.state ?? 0
    readings[index] = reading
  }

  private mutating func add(_ reader: Reader) -> Int {
    guard readers.count == Self.most else {
      readers.append(reader)
      states.append(0)
      readings.append(nil)
      return readers.count - 1
    }
    defer { next = (next + 1) % Self.most }
    readers[next] = reader
    return next
  }

  /// What `reader` read since it last wrote, which it now does.
  mutating func take(_ reader: Reader) -> SlotReading? {
    guard let index = index(of: reader) else { return nil }
    defer { note(reader, nil) }
    return readings[index]
  }
}
