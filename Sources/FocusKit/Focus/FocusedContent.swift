internal import DBus
internal import DBusTypes
internal import EventLoop

/// A binding to a value that has a D-Bus type.
protocol FocusedBindingContent {
  /// Makes a function of type `() -> Self?` that returns a binding to the value of `slot`; if that is nil, it calls `ifNil`
  /// first.
  static func reader(_ slot: Slot, _ client: FocusClient, ifNil: @escaping () -> Void) -> Any
}

extension Binding: FocusedBindingContent where Value: DBusRepresentable {
  static func reader(_ slot: Slot, _ client: FocusClient, ifNil: @escaping () -> Void) -> Any {
    let location = FocusedLocation<Value>(slot, client)
    let made = Locked<(binding: Binding<Value>, location: UnwrappedLocation<Value>)?>(nil)
    return {
      guard !slot.isNil else {
        ifNil()
        return nil
      }
      // Another field may have a value of another type.
      guard let value = location.get() else { return nil }
      if let (binding, location) = made.copy {
        // What it falls back to is what was read last. The value before is freed here: no lock is held.
        _ = location.part(of: value)
        return binding
      }
      let unwrapped = UnwrappedLocation(location, value)
      let binding = Binding(unwrapped)
      return made.withLock { made in
        let first = made ?? (binding, unwrapped)
        made = first
        return first.binding
      }
    } as () -> Binding<Value>?
  }
}

extension DBusRepresentable {
  /// Makes a function of type `() -> Self?` that returns the value of `slot`; if that is nil, it calls `ifNil` first.
  fileprivate static func reader(_ slot: Slot, ifNil: @escaping () -> Void) -> Any {
    {
      guard let value = slot.value else {
        ifNil()
        return nil
      }
      return slot.converted(value)
    } as () -> Self?
  }
}

/// The content of a slot, as the type of a key.
enum FocusedContent {
  static func value<Value>(_ type: Value.Type, _ slot: Slot, _ client: FocusClient) -> Value? {
    reader(type, slot, client)()
  }

  /// Makes a function that returns the content of `slot`, whose kind is determined once, not for each read.
  static func reader<Value>(_ type: Value.Type, _ slot: Slot, _ client: FocusClient) -> () -> Value? {
    let ifNil = {
      if slot.isCommandEnabled != nil { report("a value of type '\(type)'", "a command", slot, client) }
    }
    let binding = (type as? any FocusedBindingContent.Type)?.reader(slot, client, ifNil: ifNil)
    let content = binding ?? (type as? any DBusRepresentable.Type)?.reader(slot, ifNil: ifNil)
    if let reader = content as? () -> Value? { return reader }
    let caller = Commands.caller(type, slot.key, client)
    if caller == nil {
      let error = FocusError(
        "'\(slot.key)' is declared with the type '\(type)', which has no form on the bus: it is always nil; a value "
          + "must be 'DBusRepresentable', a binding to one, or a closure without arguments and results")
      client.post { $0.reportOnce(error) }
    }
    return {
      if slot.isCommandEnabled == nil, !slot.isNil { report("a command", "a value", slot, client) }
      return slot.isCommandEnabled == true ? caller : nil
    }
  }

  /// Reports once that the focused field publishes something else than the program reads.
  private static func report(_ expected: String, _ found: String, _ slot: Slot, _ client: FocusClient) {
    let error = FocusError(
      "'\(slot.key)' is read as \(expected), but the focused field publishes it as \(found)",
      name: FocusError.typeMismatch)
    client.post { $0.reportOnce(error) }
  }
}

/// The currently focused value of a key, as a location; writing nil does nothing.
final class FocusedLocation<Value: DBusRepresentable>: Location, Sendable {
  private let slot: Slot
  private let client: FocusClient
  /// What was converted last, and of which state: each element of a collection is read from all of it.
  private let converted = Locked<(state: UInt64, value: Value)?>(nil)

  init(_ slot: Slot, _ client: FocusClient) {
    self.slot = slot
    self.client = client
  }

  func get() -> Value? { value(of: slot.read()) }

  func peek() -> Value? { value(of: slot.reading) }

  private func value(of reading: SlotReading?) -> Value? {
    guard let reading else { return nil }
    let last = converted.copy
    if let last, last.state == reading.state { return last.value }
    guard let value: Value = slot.converted(reading.value) else { return nil }
    // `last` is freed outside of the lock: its deinitializer may run arbitrary code.
    return withExtendedLifetime(last) {
      converted.withLock { $0 = (reading.state, value) }
      return value
    }
  }

  func set(_ value: Value?, _ transaction: Transaction) {
    guard let value else { return }
    do { slot.assign(try value.dbusValue()) } catch { client.report(FocusError(any: error)) }
  }

  func begin() -> (value: Value?, reading: SlotReading?) {
    let reading = slot.read()
    return (value(of: reading), reading)
  }

  func modify(_ basis: ChangeBasis, _ transaction: Transaction, _ change: @escaping (inout Value?) -> Void) {
    do {
      switch basis {
      case .assignment:
        let assignment = Assignment { value in
          try? Self.changed(value, change)?.adapted(to: value.type)
        }
        try modify(.members(assignment), change)
      case .update(let rule): try modify(Self.rule(rule), change)
      case .inPlace(let reading, let rule):
        guard let value = try Self.changed(reading.value, change),
          !slot.change(reading, to: value, Self.rule(rule))
        else {
          return
        }
        client.report(FocusError("'\(slot.key)' is no longer the value that was read", name: FocusError.conflict))
      }
    } catch {
      client.report(FocusError(any: error))
    }
  }

  /// `rule`, unless the value is an optional, which has no parts to merge.
  private static func rule(_ rule: WriteRule) -> WriteRule { Value.self is any OptionalValue.Type ? .whole : rule }

  /// Makes a change that can be made again, until nobody of this process made another meanwhile.
  private func modify(_ rule: WriteRule, _ change: (inout Value?) -> Void) throws {
    while let reading = slot.reading, let value = try Self.changed(reading.value, change),
      !slot.change(reading, to: value, rule, inNewer: false)
    {}
  }

  private static func changed(_ value: DBusValue, _ change: (inout Value?) -> Void) throws -> DBusValue? {
    var changed: Value? = try Value(dbusValue: value)
    let base = try changed?.dbusValue()
    change(&changed)
    guard let changed, let base else { return nil }
    return value.replacing(base, with: try changed.dbusValue())
  }

  func follow(withCurrent: Bool, _ sink: @escaping (Value?) -> Void) -> (@Sendable () -> Void)? {
    slot.follow(withCurrent: withCurrent) { [weak slot] in sink($0.value.flatMap { slot?.converted($0) }) }
  }
}
