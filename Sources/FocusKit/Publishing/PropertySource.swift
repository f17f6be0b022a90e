internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract
internal import Synchronization

/// A published value on its way to the worker: read and converted where its closures run.
final class PropertySource: Sendable {
  private let property: PublishedProperty
  private let number: UInt64
  private let key: Key
  private let letters: Worker.Letters
  private let post: Owners.Post
  /// The changes to tell; nil if Observation alone tells of them.
  private let changes: PublishedChanges?
  private let reading = ObservedReading()
  private let ending = Ending()

  /// Whether the value is followed no longer: what is still on its way is not told.
  private final class Ending: Sendable { let isOver = Atomic(false) }

  init(
    _ property: PublishedProperty, _ number: UInt64, _ key: Key, _ letters: Worker.Letters,
    _ post: @escaping Owners.Post
  ) {
    (self.property, self.number, self.key, self.letters, self.post) = (property, number, key, letters, post)
    changes = property.follow { [ending] take in
      post {
        let values = take()
        Self.post(values, number, key, letters, ending)
      }
    }
  }

  /// Follows the value no longer.
  func end() {
    ending.isOver.store(true, ordering: .releasing)
    changes?.cancel()
  }

  /// Tells the value, and what it was since it was told last.
  func tell() throws {
    var values = changes?.take() ?? []
    if changes == nil { values.append(.success(try read())) }
    told(values)
  }

  private static func tell(_ values: [Result<DBusValue, any Error>], _ number: UInt64, _ key: Key, _ worker: Worker) {
    for value in values {
      switch value {
      case .success(let value): worker.fields.changed(number, key, value)
      case .failure(let error):
        // The value before is not its value any more.
        worker.fields.changed(number, [(key, nil)])
        worker.reportOnce(FocusError(error, of: key))
      }
    }
  }

  /// The value now, after those that it was since it was told last.
  func read() throws -> DBusValue {
    if let changes {
      // What changes while it is read is among those, and told with them.
      let now = Result { try property.get() }
      let values = changes.take()
      told(values)
      return try (values.last ?? now).get()
    }
    guard !ending.isOver.load(ordering: .acquiring) else { return try property.get() }
    return try reading.read {
      Publishing.$isUnderWay.withValue(true) { Result { try property.get() } }
    } onChange: { [weak self] _ in
      self?.post { [weak self] in self?.observedChange() }
    }.get()
  }

  private func told(_ values: [Result<DBusValue, any Error>]) {
    guard !values.isEmpty else { return }
    Self.post(values, number, key, letters, ending)
  }

  private static func post(
    _ values: [Result<DBusValue, any Error>], _ number: UInt64, _ key: Key, _ letters: Worker.Letters, _ ending: Ending
  ) {
    letters.post { if !ending.isOver.load(ordering: .acquiring) { tell(values, number, key, $0) } }
  }

  /// Tells a value that was read, or that it cannot be.
  func told(_ value: Result<DBusValue, any Error>) { told([value]) }

  private func observedChange() {
    guard !ending.isOver.load(ordering: .acquiring) else { return }
    told(Result { try read() })
  }
}

extension FocusError {
  /// Why the value of `key` cannot be told.
  init(_ error: any Error, of key: Key) {
    let error = FocusError(any: error)
    self.init("the value of '\(key)' cannot be published: \(error.message)", name: error.name)
  }
}
