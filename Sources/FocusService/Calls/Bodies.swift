internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The bodies of the daemon's replies and signals.
extension MessageBody {
  /// One variant, as `Get` answers.
  static func variant(_ value: MarshalledValue) throws(DBusError) -> MessageBody {
    var writer = WireWriter()
    writer.append(variant: value)
    return try MessageBody("v", writer)
  }

  /// A value, its field and its revision, as `Write` answers.
  static func written(_ reading: Reading) throws(DBusError) -> MessageBody {
    var writer = WireWriter()
    writer.append(variant: reading.value)
    writer.append(origin: reading)
    return try MessageBody("vot", writer)
  }

  /// As `Read` answers; nil: nothing resolves.
  static func read(_ reading: Reading?) throws(DBusError) -> MessageBody {
    var writer = WireWriter()
    writer.array(alignment: 1) { array in
      if let reading { array.append(variant: reading.value) }
    }
    writer.append(origin: reading)
    return try MessageBody("avot", writer)
  }

  /// As `ReadAll` answers.
  static func readings(_ readings: [Key: Reading]) throws(DBusError) -> MessageBody {
    var writer = try WireWriter(holding: readings.values.lazy.map(\.value))
    writer.array(alignment: 8) { array in
      for (key, reading) in readings.sorted(by: { $0.key < $1.key }) {
        array.align(8)
        array.append(key.description)
        array.align(8)
        array.append(variant: reading.value)
        array.append(origin: reading)
      }
    }
    return try MessageBody("a{s(vot)}", writer)
  }

  /// As `GetAll` answers.
  static func properties(_ properties: [Property]) throws(DBusError) -> MessageBody {
    var writer = try WireWriter(holding: properties.lazy.map(\.value))
    writer.append(properties: properties)
    return try MessageBody("a{sv}", writer)
  }

  /// As `PropertiesChanged` carries.
  static func propertiesChanged(
    _ interface: InterfaceName, _ changed: [Property], invalidated: [MemberName]
  ) throws(DBusError) -> MessageBody {
    var writer = try WireWriter(holding: changed.lazy.map(\.value))
    writer.append(interface.text)
    writer.append(properties: changed)
    writer.array(alignment: 4) { array in
      for name in invalidated { array.append(name.text) }
    }
    return try MessageBody("sa{sv}as", writer)
  }

  /// As `Properties.Get` is called, and with a value `Properties.Set`.
  static func naming(_ key: Key, _ value: MarshalledValue? = nil) throws(DBusError) -> MessageBody {
    var writer = WireWriter()
    writer.append(key.interface.text)
    writer.append(key.member.text)
    if let value { writer.append(variant: value) }
    return try MessageBody(value == nil ? "ss" : "ssv", writer)
  }

  /// A property by its name, and its value.
  typealias Property = (name: String, value: MarshalledValue)
}

extension WireWriter {
  /// Creates a writer with room for `values` and their names: to grow step by step would touch the memory many times.
  /// - Throws: `DBusError.limitsExceeded` if no message can carry the values.
  fileprivate init(holding values: some Collection<MarshalledValue>) throws(DBusError) {
    let size = values.reduce(0) { $0 + $1.size }
    try MessageBody.check(size: size)
    self.init(capacity: size + 256 * (values.count + 1))
  }

  fileprivate mutating func append(origin reading: Reading?) {
    append(Target.path(of: reading?.field).text)
    append(reading?.revision ?? 0)
  }

  /// Writes a dictionary from names to variants.
  mutating func append(properties: some Sequence<MessageBody.Property>) {
    array(alignment: 8) { array in
      for (name, value) in properties {
        array.align(8)
        array.append(name)
        array.append(variant: value)
      }
    }
  }
}
