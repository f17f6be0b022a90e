internal import DBus
internal import DBusTypes

/// A binding to a value that has a D-Bus type.
protocol FocusedBindingContent {
  /// Reads the binding to what `slot` holds now, or nil.
  static func reader(_ slot: Slot, _ client: FocusClient) -> () -> Self?
}

extension Binding: FocusedBindingContent where Value: DBusRepresentable {
  static func reader(_ slot: Slot, _ client: FocusClient) -> () -> Binding<Value>? {
    let optional = Binding<Value?>(FocusedLocation<Value>(slot, client))
    let made = Locked<Binding<Value>?>(nil)
    return {
      guard !slot.isNil else { return nil }
      if let binding = made.withLock({ $0 }) { return binding }
      let binding = Binding(optional)
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
final class FocusedLocation<Value: DBusRepresentable>: Location, Sendable {
  private let slot: Slot
  private let client: FocusClient

  init(_ slot: Slot, _ client: FocusClient) {
    self.slot = slot
    self.client = client
  }

  func get() -> Value? { slot.value(as: Value.self) }

  func set(_ value: Value?, _ transaction: Transaction) {
    guard let value else { return }
    write(value, basedOn: nil)
  }

  func modify(_ transaction: Transaction, _ change: (inout Value?) -> Void) {
    let sight = slot.sight
    var value = value(of: sight)
    change(&value)
    if let value { write(value, basedOn: sight) }
  }

  /// Writes `value`, where `sight` is what its writer saw, or what is there now.
  func write(_ value: Value, basedOn sight: Sight?) {
    do { slot.write(try value.dbusValue(), basedOn: sight) } catch { client.report(FocusError(any: error)) }
  }

  /// What is there now, to be written back with `write`.
  var sight: Sight { slot.sight }

  func value(of sight: Sight) -> Value? { sight.value.flatMap { slot.converted($0) } }

  func follow(_ sink: @escaping (Value?) -> Void) -> (@Sendable () -> Void)? {
    slot.follow { [weak slot] value in sink(value.flatMap { slot?.converted($0) }) }
  }
}
