internal import DBus
internal import DBusTypes
internal import EventLoop
internal import Synchronization

/// A binding to a value that has a D-Bus type.
protocol FocusedBindingContent {
  /// Reads the binding to what `slot` holds now, or nil.
  static func reader(_ slot: Slot, _ client: FocusClient) -> () -> Self?
}

extension Binding: FocusedBindingContent where Value: DBusRepresentable {
  static func reader(_ slot: Slot, _ client: FocusClient) -> () -> Binding<Value>? {
    let location = FocusedLocation<Value>(slot, client)
    let made = Locked<Binding<Value>?>(nil)
    return {
      guard !slot.isNil else { return nil }
      if let binding = made.withLock({ $0 }) { return binding }
      // Making it is no reading of the program's.
      let binding = slot.value(as: Value.self).map { Binding(UnwrappedLocation(location, $0)) }
      made.withLock { $0 = binding }
      return binding
    }
  }
}

extension DBusRepresentable {
  fileprivate static func reader(_ slot: Slot) -> () -> Self? {
    { slot.value(as: Self.self) }
  }
}

/// What a slot holds, as the type of a key.
enum FocusedContent {
  static func value<Value>(_ type: Value.Type, _ slot: Slot, _ client: FocusClient) -> Value? {
    reader(type, slot, client)()
  }

  /// Reads what `slot` holds now; which kind of value it is, is found out here, and not for each reading.
  static func reader<Value>(_ type: Value.Type, _ slot: Slot, _ client: FocusClient) -> () -> Value? {
    let reader: Any?
    if let type = type as? any FocusedBindingContent.Type {
      reader = bindingReader(type, slot, client)
    } else if let type = type as? any DBusRepresentable.Type {
      reader = valueReader(type, slot)
    } else {
      reader = nil
    }
    if let reader = reader as? () -> Value? { return reader }
    return { slot.isCommandEnabled == true ? Commands.caller(type, slot.key, client) : nil }
  }

  private static func bindingReader<Content: FocusedBindingContent>(
    _ type: Content.Type, _ slot: Slot, _ client: FocusClient
  ) -> Any {
    type.reader(slot, client)
  }

  private static func valueReader<Content: DBusRepresentable>(_ type: Content.Type, _ slot: Slot) -> Any {
    type.reader(slot)
  }
}

/// The value of a key that is focused now, as a location; nil that is written is dropped.
///
/// What was read through it is what the next write through it is based on: where that has changed meanwhile, or focus has
/// moved, the write is refused. A write without a reading before is of what is there.
final class FocusedLocation<Value: DBusRepresentable>: Location, Sendable {
  private let slot: Slot
  private let client: FocusClient
  /// The number of the state that was read last; 0 where that was nil, or was written since.
  private let read = Atomic<UInt64>(0)

  init(_ slot: Slot, _ client: FocusClient) {
    self.slot = slot
    self.client = client
  }

  func get() -> Value? {
    let (value, state) = slot.seen
    read.store(value == nil ? 0 : state, ordering: .relaxed)
    guard let value else { return nil }
    return slot.converted(value)
  }

  func peek() -> Value? { slot.value(as: Value.self) }

  func set(_ value: Value?, _ transaction: Transaction) {
    let state = read.exchange(0, ordering: .relaxed)
    if let value { write(value, in: state == 0 ? nil : state) }
  }

  func modify(_ transaction: Transaction, _ change: (inout Value?) -> Void) {
    let (seen, state) = slot.seen
    var value: Value? = seen.flatMap { slot.converted($0) }
    change(&value)
    if let value { write(value, in: state) }
  }

  private func write(_ value: Value, in state: UInt64?) {
    do {
      guard try !slot.write(value.dbusValue(), in: state) else { return }
      client.report(
        FocusError("'\(slot.key)' is another than the value that was read", name: FocusError.conflict))
    } catch {
      client.report(FocusError(any: error))
    }
  }

  func follow(_ sink: @escaping (Value?) -> Void) -> (@Sendable () -> Void)? {
    slot.follow { [weak slot] value in sink(value.flatMap { slot?.converted($0) }) }
  }
}
