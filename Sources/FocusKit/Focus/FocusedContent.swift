internal import DBusTypes

/// A binding to a value that has a D-Bus type.
protocol FocusedBindingContent {
  /// The binding to what `slot` holds now, or nil.
  static func focused(_ slot: Slot, _ client: FocusClient) -> Self?
}

extension Binding: FocusedBindingContent where Value: DBusRepresentable {
  static func focused(_ slot: Slot, _ client: FocusClient) -> Binding<Value>? {
    Binding(Binding<Value?>(FocusedLocation<Value>(slot, client)))
  }
}

/// What a slot holds, as the type of a key.
enum FocusedContent {
  static func value<Value>(_ type: Value.Type, _ slot: Slot, _ client: FocusClient) -> Value? {
    if let type = type as? any FocusedBindingContent.Type { return type.focused(slot, client) as? Value }
    if let type = type as? any DBusRepresentable.Type {
      guard let value = slot.value else { return nil }
      return try? type.init(dbusValue: value) as? Value
    }
    guard slot.isCommandEnabled == true else { return nil }
    return Commands.caller(type, slot.key, client)
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

  func get() -> Value? {
    guard let value = slot.value else { return nil }
    return try? Value(dbusValue: value)
  }

  func set(_ value: Value?, _ transaction: Transaction) {
    guard let value else { return }
    do { slot.write(try value.dbusValue()) } catch { client.report(FocusError(any: error)) }
  }

  func follow(_ sink: @escaping (Value?) -> Void) -> (@Sendable () -> Void)? {
    slot.follow { value in sink(value.flatMap { try? Value(dbusValue: $0) }) }
  }
}
