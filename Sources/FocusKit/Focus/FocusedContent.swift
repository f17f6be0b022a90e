internal import DBus
internal import DBusTypes
internal import EventLoop
internal import Synchronization

/// A binding to a value that has a D-Bus type.
protocol FocusedBindingContent {
  /// Reads the binding to the current value of `slot`, or nil.
  static func reader(_ slot: Slot, _ client: FocusClient) -> () -> Self?
}

extension Binding: FocusedBindingContent where Value: DBusRepresentable {
  static func reader(_ slot: Slot, _ client: FocusClient) -> () -> Binding<Value>? {
    let location = FocusedLocation<Value>(slot, client)
    let made = Locked<Binding<Value>?>(nil)
    return {
      guard !slot.isNil else { return nil }
      if let binding = made.withLock({ $0 }) { return binding }
      // Creating it does not count as a read by the program.
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

/// The content of a slot, as the type of a key.
enum FocusedContent {
  static func value<Value>(_ type: Value.Type, _ slot: Slot, _ client: FocusClient) -> Value? {
    reader(type, slot, client)()
  }

  /// Reads the current value of `slot`; determines the kind of value once, not for each read.
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

/// The currently focused value of a key, as a location; writing nil does nothing.
///
/// A write is based on the value that was last read through the location: if the value has changed since, or focus has
/// moved, the write is refused. A write without a previous read is based on the current value.
final class FocusedLocation<Value: DBusRepresentable>: Location, Sendable {
  private let slot: Slot
  private let client: FocusClient
  /// The number of the state that was read last; 0 if it was nil or has been written since.
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
        FocusError("'\(slot.key)' is no longer the value that was read", name: FocusError.conflict))
    } catch {
      client.report(FocusError(any: error))
    }
  }

  func follow(_ sink: @escaping (Value?) -> Void) -> (@Sendable () -> Void)? {
    slot.follow { [weak slot] value in sink(value.flatMap { slot?.converted($0) }) }
  }
}
