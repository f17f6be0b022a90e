internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The options of a method, taken one by one; what is left over is not known.
struct CallOptions {
  private var left: [String: MarshalledValue]
  private var known: [String] = []

  init(_ values: [String: MarshalledValue]) { left = values }

  /// Takes the option `name` as a value of `type`, or nil if it is not given.
  /// - Throws: `DBusError.invalidArgs` if it is not one.
  mutating func take(_ name: String, _ type: DBusType) throws(DBusError) -> MarshalledValue? {
    known.append(name)
    guard let value = left.removeValue(forKey: name) else { return nil }
    if value.type == type { return value }
    guard !type.isBasic, value.type != .variant, let same = value.value.stated(as: type) else {
      throw DBusError(.invalidArgs, "the option '\(name)' is of type '\(type)', not '\(value.type)'")
    }
    return MarshalledValue(same)
  }

  mutating func boolean(_ name: String) throws(DBusError) -> Bool { try take(name, .boolean)?.value == .boolean(true) }

  mutating func string(_ name: String) throws(DBusError) -> String? { try take(name, .string)?.value.basicText }

  mutating func path(_ name: String) throws(DBusError) -> ObjectPath? {
    guard case .objectPath(let path)? = try take(name, .objectPath)?.value else { return nil }
    return path
  }

  /// Takes the option `name`, as many keys as a field has at most.
  /// - Throws: `DBusError`: `invalidArgs`, `limitsExceeded`; `SyntaxError` for what is no key.
  mutating func keys(_ name: String) throws -> Set<Key>? {
    try names(name).map { names in Set(try names.map { try Key($0) }) }
  }

  /// Takes the option `name`, as many names as a field has keys at most.
  /// - Throws: `DBusError`: `invalidArgs`, `limitsExceeded`.
  mutating func names(_ name: String) throws(DBusError) -> [String]? {
    guard let names = try take(name, .array(.string))?.strings else { return nil }
    try CallOptions.check(count: names.count, of: name)
    return names
  }

  private static func check(count: Int, of option: String) throws(DBusError) {
    guard count <= Limits.keysPerField else {
      throw DBusError(.limitsExceeded, "the option '\(option)' lists more than \(Limits.keysPerField) names")
    }
  }

  /// Takes the option `name`, commands with the signature of their arguments each.
  /// - Throws: `DBusError.invalidArgs`; `SyntaxError` for an invalid key or signature.
  mutating func signatures(_ name: String) throws -> [Key: Signature]? {
    guard case .dictionary(let dictionary)? = try take(name, .dictionary(key: .string, value: .string))?.value else {
      return nil
    }
    try CallOptions.check(count: dictionary.entries.count, of: name)
    var signatures: [Key: Signature] = [:]
    for entry in dictionary.entries {
      guard case .string(let name) = entry.key, case .string(let signature) = entry.value else { continue }
      signatures[try Key(name)] = try Signature(signature)
    }
    return signatures
  }

  /// Takes the option `name`, a key and a value.
  /// - Throws: `DBusError.invalidArgs`; `SyntaxError` for an invalid key.
  mutating func condition(_ name: String) throws -> Activity.Condition? {
    guard let given = try take(name, .structure([.string, .variant])) else { return nil }
    guard case .structure(let members) = given.value, case .string(let key)? = members.first,
      case .variant(let value)? = members.last
    else { throw DBusError(.invalidArgs, "the option '\(name)' cannot hold a file descriptor") }
    return .init(key: try Key(key), value: MarshalledValue(value).lookedThrough)
  }

  /// Takes the option `name`, the path of a field.
  /// - Throws: `ModelError.noSuchField` if it is no field's path, `DBusError.invalidArgs` if it is no path.
  mutating func field(_ name: String) throws -> FieldID? {
    guard let path = try path(name) else { return nil }
    guard let id = FieldID(path) else { throw ModelError.noSuchField(path.text) }
    return id
  }

  /// Ends the taking.
  /// - Throws: `DBusError.invalidArgs` if there is an option that was not taken.
  func finish() throws(DBusError) {
    guard let stray = left.keys.sorted().first else { return }
    let list = known.isEmpty ? "there are no options" : "known options are " + known.joined(separator: ", ")
    throw DBusError(.invalidArgs, "unknown option '\(stray.excerpt)': \(list)")
  }
}

extension DBusValue {
  /// The same as a value of `type`, if it comes from a language that puts each element of a container in a variant, or leaves
  /// variants out; nil if it is not the same.
  fileprivate func stated(as type: DBusType) -> DBusValue? {
    switch (self, type) {
    case _ where self.type == type: return self
    case (.variant(let content), _): return content.stated(as: type)
    case (_, .variant): return .variant(self)
    case (.array(let elements), .array(let element)):
      let stated = elements.compactMap { $0.stated(as: element) }
      return stated.count == elements.count ? .array(DBusArray(known: element, stated)) : nil
    case (.structure(let members), .structure(let types)) where members.count == types.count:
      let stated = zip(members, types).compactMap { $0.stated(as: $1) }
      return stated.count == members.count ? .structure(stated) : nil
    case (.dictionary(let dictionary), .dictionary(let key, let value)):
      let stated = dictionary.entries.compactMap { entry in
        entry.key.stated(as: key).flatMap { key in
          entry.value.stated(as: value).map { DBusDictionary.Entry(key: key, value: $0) }
        }
      }
      return stated.count == dictionary.entries.count ? .dictionary(DBusDictionary(known: key, value, stated)) : nil
    default: return nil
    }
  }
}
