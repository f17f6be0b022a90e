import DBus
import DBusTypes
import DaemonClient
import FocusContract

/// The command that explains a key.
enum Describing {
  /// What is shown of a key, in order.
  private struct Description {
    let key: String
    let type: String
    let field: FieldInfo
    let why: String
    let access: String
    let revision: UInt64?
  }

  static func describe(_ call: Invocation) throws(CommandError) {
    let key = try KeyArgument(call.operands[0])
    let bindings = try Bindings(try call.connect(), call.options)
    let fields = try FieldInfo.all(bindings.daemon)
    let session = try FieldInfo.session(of: fields, bindings.daemon)
    let keys = try bindings.daemon.ask(.keys(at: bindings.path))
    let commands = try bindings.commands().map(\.key)
    let names = Set(keys + commands).naturallySorted()
    guard let whole = try key.resolved(among: names) else {
      // A sensitive field lists nothing, and a read says why.
      do { _ = try bindings.read(key) } catch  where error.error?.name == .accessDenied {
        throw error.command
      } catch {}
      guard let near = Suggestion.key(near: key.name, among: names) else {
        throw CommandError(.nothing, bindings.whyNil(key))
      }
      throw CommandError(.nothing, "'\(key.name)' is nil: \(bindings.described); did you mean '\(near)'?")
    }
    let supply = Supply(fields, session)
    let chosen = fields.first { $0.path == bindings.path }
    let description: Description?
    if keys.contains(whole.name) {
      description = try describeValue(whole, in: bindings, fields, chosen, supply)
    } else {
      description = try describeCommand(
        whole.name, in: bindings, chosen.map { ($0, chosenWhy) } ?? supply.of(command: whole.name))
    }
    guard let description else {
      throw CommandError(.nothing, "'\(whole.text)' resolves to another field from one moment to the next")
    }
    try Output.write(call.options.json ? json(description) : text(description))
  }

  private static let chosenWhy = "the field that was asked for"

  private static func describeValue(
    _ key: KeyArgument, in bindings: Bindings, _ fields: [FieldInfo], _ chosen: FieldInfo?, _ supply: Supply
  ) throws(CommandError) -> Description? {
    let access = try bindings.property(key.name)
    var reading: KeyReading?
    do {
      reading = try bindings.read(key.text)
    } catch {
      guard error.name == .accessDenied else { throw CommandError(error) }
    }
    let found =
      reading.flatMap { reading in fields.first { $0.path == reading.origin.field } }.map { ($0, supply.why($0)) }
      ?? supply.of(value: key.name)
    guard let (field, why) = found else { return nil }
    let type = reading?.value.type ?? (key.pointer.isEmpty ? access?.type : nil)
    return Description(
      key: key.text, type: type?.description ?? "?", field: field, why: chosen == nil ? why : chosenWhy,
      access: access.map { name(of: $0.access) } ?? "?", revision: reading?.origin.revision)
  }

  private static func describeCommand(
    _ command: String, in bindings: Bindings, _ found: (field: FieldInfo, why: String)?
  ) throws(CommandError) -> Description? {
    guard let found, let key = try? Key(command) else { return nil }
    let method = Dispatching.methods(try bindings.interfaces(), key).first
    let isEnabled = found.field.commands.first { $0.key == command }?.isEnabled ?? true
    let type = (method?.input ?? []).map(\.type.description).joined()
    return Description(
      key: command, type: "(\(type))", field: found.field, why: found.why,
      access: isEnabled ? "command" : "disabled command", revision: nil)
  }

  private static func name(of access: InterfaceDescription.Property.Access) -> String {
    switch access {
    case .read: "read-only"
    case .write: "write-only"
    case .readWrite: "writable"
    }
  }

  private static func text(_ it: Description) -> String {
    let owner = it.field.owner.isEmpty ? "none" : it.field.owner
    let process = it.field.process == 0 ? "" : " (process \(it.field.process))"
    return Output.table(
      [
        ["key:", Output.escaped(it.key)], ["type:", it.type], ["access:", it.access], ["field:", it.field.id],
        ["why:", it.why],
        ["owner:", owner + process],
      ] + (it.revision.map { [["revision:", String($0)]] } ?? []))
  }

  private static func json(_ it: Description) -> String {
    JSONWriter.object([
      ("key", JSONWriter.string(it.key)), ("type", JSONWriter.string(it.type)),
      ("access", JSONWriter.string(it.access)), ("field", JSONWriter.string(it.field.id)),
      ("why", JSONWriter.string(it.why)),
      ("owner", it.field.owner.isEmpty ? "null" : JSONWriter.string(it.field.owner)),
      ("process", it.field.process == 0 ? "null" : String(it.field.process)),
      ("revision", it.revision.map(String.init) ?? "null"),
    ]) + "\n"
  }
}

/// Which field supplies a key, and why: the focus path, its scene, then the session's fields.
private struct Supply {
  private let path: [FieldInfo]
  private let scene: [FieldInfo]
  private let session: [FieldInfo]

  init(_ fields: [FieldInfo], _ session: [FieldInfo]) {
    let focused = fields.first(where: \.isFocused).map { FocusPath(of: $0.path, among: fields) }
    (path, scene, self.session) = (focused?.chain ?? [], focused?.scene ?? [], session)
  }

  /// The field that supplies the value of the key `name`.
  func of(value name: String) -> (field: FieldInfo, why: String)? {
    first { field in field.values.contains { $0.key == name } || field.writeOnly.contains(name) }
  }

  /// The field that supplies the command `name`.
  func of(command name: String) -> (field: FieldInfo, why: String)? {
    first { field in field.commands.contains { $0.key == name } }
  }

  private func first(where has: (FieldInfo) -> Bool) -> (field: FieldInfo, why: String)? {
    (path + scene + session).first(where: has).map { ($0, why($0)) }
  }

  func why(_ field: FieldInfo) -> String {
    if field.path == path.first?.path { return "it is the focused field" }
    if path.contains(where: { $0.path == field.path }) {
      return "it is the innermost field on the focus path that has the key"
    }
    if scene.contains(where: { $0.path == field.path }) { return "it is a field of the focused field's scene" }
    let start = "nothing nearer has the interface, and of the session fields that have it, this is the first"
    return field.isActive ? "\(start): it is active" : start
  }
}
