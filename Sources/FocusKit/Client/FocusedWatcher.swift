internal import DBus
internal import DBusTypes

/// Keeps the cache as the daemon has it: signals bring values, and a reading behind them their fields and revisions.
///
/// What a signal says before the reply to a reading is at least as new as the reply, since the daemon sends every change
/// before the replies of the same turn; after such a reading comes another.
final class FocusedWatcher {
  static let rules = [
    MatchRule(
      sender: .bus, interface: .bus, member: MemberName(known: "NameOwnerChanged"),
      arguments: [0: Focus1.busName.text]),
    MatchRule(
      sender: Focus1.busName, path: Focus1.focused, interface: .properties,
      member: MemberName(known: "PropertiesChanged")),
    MatchRule(
      sender: Focus1.busName, path: Focus1.root, interface: .properties, member: MemberName(known: "PropertiesChanged")),
  ]

  private unowned let worker: Worker
  /// Which daemon, and which reading of it, the next reply must belong to.
  private var session = 0
  private var isReading = false
  private var mustReadAgain = false
  /// What signals told since the reading under way began.
  private var told: Set<String> = []
  private var commandsTold = false
  private var focusTold = false

  /// The field that has focus, or nil.
  private(set) var focusedField: ObjectPath?

  init(_ worker: Worker) { self.worker = worker }

  /// Whether a reading is under way or wanted.
  var isSettled: Bool { !isReading && !mustReadAgain }

  /// Reads everything anew.
  func begin() {
    session += 1
    isReading = false
    commandsTold = false
    focusTold = false
    let session = session
    read()
    get("Commands", of: Focus1.bindings, at: Focus1.focused, session) { [unowned self] value in
      if !commandsTold { worker.cache.setCommands(Self.commands(value)) }
    }
    get("FocusedField", of: Focus1.manager, at: Focus1.root, session) { [unowned self] value in
      if !focusTold { setFocusedField(value) }
    }
  }

  /// Forgets everything.
  func end() {
    session += 1
    isReading = false
    mustReadAgain = false
    focusedField = nil
    worker.cache.clear()
    worker.writes.retry()
  }

  private func get(
    _ name: String, of interface: InterfaceName, at path: ObjectPath, _ session: Int,
    _ handler: @escaping (DBusValue) -> Void
  ) {
    worker.call(path, .properties, "Get", [.string(interface.text), .string(name)]) { [unowned self] result in
      guard session == self.session, let value = try? result.get().first?.content else { return }
      handler(value)
    }
  }

  /// Reads all values, once more after the reading that is under way.
  func read() {
    guard !isReading else {
      mustReadAgain = true
      return
    }
    isReading = true
    mustReadAgain = false
    told = []
    let session = session
    worker.call(Focus1.focused, Focus1.bindings, "ReadAll") { [unowned self] result in
      guard session == self.session else { return }
      isReading = false
      if case .success(let values) = result { take(values) }
      if mustReadAgain { read() } else { worker.writes.retry() }
    }
  }

  private func take(_ reply: [DBusValue]) {
    guard case .dictionary(let dictionary)? = reply.first else { return }
    var gone = Set(worker.cache.known.keys)
    for entry in dictionary.entries {
      guard case .string(let key) = entry.key, case .structure(let members) = entry.value, members.count == 3,
        let value = members[0].content, case .objectPath(let field) = members[1],
        case .uint64(let revision) = members[2]
      else { continue }
      gone.remove(key)
      guard !told.contains(key) else { continue }
      worker.cache.set(key, Reading(value: value, origin: .init(field: field, revision: revision)))
    }
    for key in gone.subtracting(told) { worker.cache.set(key, nil) }
  }

  func received(_ message: Message) {
    guard message.isSignal(.properties, MemberName(known: "PropertiesChanged")),
      let arguments = try? message.arguments(), arguments.count == 3, case .string(let interface) = arguments[0],
      case .dictionary(let changed) = arguments[1], case .array(let invalidated) = arguments[2]
    else { return }
    if message.path == Focus1.root {
      guard let field = changed[.string("FocusedField")]?.content else { return }
      focusTold = true
      setFocusedField(field)
      return read()
    }
    guard message.path == Focus1.focused else { return }
    if interface == Focus1.bindings.text {
      guard let commands = changed[.string("Commands")]?.content else { return }
      commandsTold = true
      return worker.cache.setCommands(Self.commands(commands))
    }
    for entry in changed.entries {
      guard let name = entry.key.basicText, let value = entry.value.content else { continue }
      tell("\(interface).\(name)", Reading(value: value))
    }
    for name in invalidated.compactMap(\.basicText) { tell("\(interface).\(name)", nil) }
    read()
  }

  private func tell(_ key: String, _ reading: Reading?) {
    told.insert(key)
    worker.cache.set(key, reading)
  }

  private func setFocusedField(_ value: DBusValue) {
    guard case .objectPath(let path) = value else { return }
    focusedField = path == .root ? nil : path
    worker.fields.focusChanged()
  }

  private static func commands(_ value: DBusValue) -> [String: Bool] {
    guard case .dictionary(let dictionary) = value else { return [:] }
    var commands: [String: Bool] = [:]
    for entry in dictionary.entries {
      if case .string(let name) = entry.key, case .boolean(let isEnabled) = entry.value { commands[name] = isEnabled }
    }
    return commands
  }
}
