internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Values as they lie in the journal: as they are in memory, or as version 0.1 kept them.
enum KeptValue {
  /// Reads what was kept.
  /// - Throws: `WireError`, or `SavedStateDamaged`, if it is no value.
  static func read(_ bytes: [UInt8]) throws -> MarshalledValue {
    guard let first = bytes.first else { throw damaged }
    // Version 0.1 began with a basic type's code; any other value it kept as a reply that carries it in a variant, which
    // begins with `l` or `B`: these are no types' codes.
    if first <= 8 { return try MarshalledValue(checking: bytes) }
    if let type = DBusType(basicCode: first) { return try basic(type, first, bytes.dropFirst()) }
    let message = try bytes.withUnsafeBufferPointer { bytes throws(DBusError) in
      try Message(demarshalling: bytes)
    }
    guard case .variant(let value)? = try message.arguments().first else { throw damaged }
    return MarshalledValue(value)
  }

  private static let damaged = SavedStateDamaged(description: "a value is not valid")

  /// What version 0.1 kept after a basic type's code: a number in as many bytes as it has, or a text and a NUL.
  private static func basic(_ type: DBusType, _ code: UInt8, _ kept: ArraySlice<UInt8>) throws -> MarshalledValue {
    let length = UInt32(truncatingIfNeeded: kept.count - 1)
    var storage: [UInt8] = [UInt8(type.alignment), 1, code, 0, 0, 0, 0, 0]
    switch type {
    case .string, .objectPath: storage += withUnsafeBytes(of: length) { Array($0) } + kept
    case .signature: storage += [UInt8(truncatingIfNeeded: length)] + kept
    case .boolean: storage += kept + [0, 0, 0]
    default: storage += kept
    }
    return try MarshalledValue(checking: storage)
  }
}

/// What happened when, as the columns of a field say it: words separated by spaces.
enum KeptMoments {
  /// `MOMENT`, when it was in front last, then `CONNECTION=MOMENT` for each that it adopted.
  static func text(of window: Window) -> String {
    window.adopted.sorted { $0.key < $1.key }.reduce("\(window.lastInFront)") { "\($0) \($1.key)=\($1.value)" }
  }

  /// - Throws: `SavedStateDamaged`, or an error for what is no name.
  static func window(_ text: String) throws -> Window {
    let words = text.split(separator: " ")
    let adopted = try words.dropFirst().map { word in
      let (owner, moment) = try pair(word)
      return (try BusName(owner), moment)
    }
    return Window(adopted: Dictionary(adopted) { $1 }, lastInFront: try moment(words.first ?? ""))
  }

  /// `=MOMENT`, when a field was focused last; nil: that is not remembered.
  static func text(ofFocus moment: UInt64) -> String? { moment == 0 ? nil : "=\(moment)" }

  /// The last moment of words `OWNER=MOMENT`, of which version 0.2 kept several.
  /// - Throws: `SavedStateDamaged`.
  static func lastFocused(_ text: String) throws -> UInt64 {
    try text.split(separator: " ").reduce(0) { max($0, try pair($1).1) }
  }

  /// `MOMENT`, then `active` and `activated` as far as the field is.
  static func text(of activity: Activity) -> String {
    "\(activity.moment)" + (activity.isActive ? " active" : "") + (activity.isActivated ? " activated" : "")
  }

  /// - Throws: `SavedStateDamaged`.
  static func activity(_ text: String, _ condition: Activity.Condition?) throws -> Activity {
    let words = text.split(separator: " ")
    return Activity(
      condition, isActive: words.contains("active"), isActivated: words.contains("activated"),
      moment: try moment(words.first ?? ""))
  }

  private static func pair(_ word: Substring) throws -> (String, UInt64) {
    guard let equals = word.lastIndex(of: "=") else {
      throw SavedStateDamaged(description: "'\(String(word).excerpt)' is no name with a number")
    }
    return (String(word[..<equals]), try moment(word[word.index(after: equals)...]))
  }

  private static func moment(_ text: Substring) throws -> UInt64 {
    guard let moment = UInt64(text), moment < .max / 2 else {
      throw SavedStateDamaged(description: "'\(String(text).excerpt)' does not number an event")
    }
    return moment
  }
}
