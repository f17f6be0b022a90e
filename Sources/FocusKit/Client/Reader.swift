internal import Glibc

/// Who reads and writes through one wrapper: a task, or a thread outside of tasks.
struct Reader: Hashable {
  private let task: Int
  private let wrapper: ObjectIdentifier

  init(of wrapper: AnyObject) {
    task = withUnsafeCurrentTask { $0?.hashValue ?? Int(truncatingIfNeeded: pthread_self()) }
    self.wrapper = ObjectIdentifier(wrapper)
  }
}

/// What each of the latest readers of one key read last.
struct Readings {
  private static let most = 64

  private var latest: [(reader: Reader, reading: SlotReading?)] = []
  /// Where the next new reader's goes, in place of the oldest.
  private var next = 0

  mutating func note(_ reader: Reader, _ reading: SlotReading) {
    if let index = latest.firstIndex(where: { $0.reader == reader }) {
      latest[index].reading = reading
    } else if latest.count < Self.most {
      latest.append((reader, reading))
    } else {
      latest[next] = (reader, reading)
      next = (next + 1) % Self.most
    }
  }

  /// What `reader` read since it last wrote, which it now does.
  mutating func take(_ reader: Reader) -> SlotReading? {
    guard let index = latest.firstIndex(where: { $0.reader == reader }) else { return nil }
    defer { latest[index].reading = nil }
    return latest[index].reading
  }
}
