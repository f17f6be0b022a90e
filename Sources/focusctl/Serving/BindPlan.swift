import DBusTypes
import FocusContract
import ProgramSupport

/// What `bind` is to show: which names, as which fields.
struct BindPlan {
  /// The field's id, or what the ids begin with.
  let id: String
  /// The bus name, or what the names have before their last dot.
  let name: BusName
  /// Whether each name below `name` has a field.
  let isFamily: Bool
  let startsOwners: Bool
  private let object: ObjectPath
  private var ignored: [String]
  private let ownIgnored: [String]
  private let section: SettingsSection?
  private let options: Registration.Named

  /// Reads the arguments.
  /// - Throws: `CommandError` if they are not valid.
  init(_ id: String, _ options: Options) throws(CommandError) {
    _ = try FieldID.path(id)
    self.id = id
    guard let service = options.service, let object = options.object else {
      throw .usage("'bind' needs '--service NAME' and '--object PATH'")
    }
    isFamily = service.hasSuffix(".*")
    guard isFamily || options.ignored.isEmpty else { throw .usage("'--ignore' needs '--service NAME.*'") }
    guard isFamily || options.config == nil else { throw .usage("'--config' needs '--service NAME.*'") }
    (ignored, ownIgnored) = (options.ignored, options.ignored)
    section = try options.config.map(BindPlan.section)
    startsOwners = options.start
    do {
      name = try BusName(isFamily ? String(service.dropLast(2)) : service)
      self.object = try ObjectPath(object)
      for interface in options.interfaces { _ = try InterfaceName(interface) }
    } catch {
      throw .usage(error.description)
    }
    var registration = try Registration.options(options)
    if !options.interfaces.isEmpty { registration.append(("interfaces", .strings(options.interfaces))) }
    var live: [String] = []
    for key in options.live { live.append(try KeyArgument.whole(key)) }
    if !live.isEmpty { registration.append(("live", .strings(live))) }
    let commands = try Registration.commands(options).map { key, signature in
      DBusDictionary.Entry(key: .string(key.description), value: .string(signature.text))
    }
    if !commands.isEmpty {
      registration.append(("commands", .dictionary(DBusDictionary(known: .string, .string, commands))))
    }
    self.options = registration
  }

  private static func section(_ name: String) throws(CommandError) -> SettingsSection {
    let all = SettingsSection.all
    guard let section = all.first(where: { $0.name == name }) else {
      let names = all.map { "'\($0.name)'" }.joined(separator: ", ")
      throw .usage("'\(name.excerpt)' is not a section of focusd.conf: expected \(names)")
    }
    return section
  }

  /// Whether the user's settings have a part in it.
  var hasSettings: Bool { section != nil }

  /// Reads the user's settings, which may have changed; `report` is told what is wrong there.
  mutating func readSettings(report: (String) -> Void) {
    guard let section else { return }
    ignored = ownIgnored + Settings.read(section, report: report).names(.ignore)
  }

  /// The name that makes this a bridge; another call with the same id has it too, and so cannot be.
  var bridge: BusName { BusName(known: "org.focusd.Bridge1.Bind_\(id)") }

  /// Whether `name` has a field.
  func includes(_ name: String) -> Bool {
    guard isFamily else { return name == self.name.text }
    guard name.hasPrefix(self.name.text + ".") else { return false }
    let rest = rest(of: name)
    return !ignored.contains { $0 == name || $0 == rest || rest.hasPrefix($0 + ".") || name.hasPrefix($0 + ".") }
  }

  private func rest(of name: String) -> String { String(name.dropFirst(self.name.text.utf8.count + 1)) }

  /// The id of the field for `name`, different from all in `taken`.
  func id(for name: String, besides taken: Set<String>) -> String {
    guard isFamily else { return id }
    let whole = "\(id)_" + rest(of: name).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
    let id = String(whole.prefix(FieldID.maximumLength))
    guard taken.contains(id) else { return id }
    let number = (2...).first { !taken.contains(BindPlan.numbered(id, $0)) } ?? 2
    return BindPlan.numbered(id, number)
  }

  private static func numbered(_ id: String, _ number: Int) -> String {
    id.prefix(FieldID.maximumLength - 1 - String(number).count) + "_\(number)"
  }

  /// The options of `Register` for the field of `name`.
  func registration(of name: String) -> Registration.Named {
    options + [("service", .string(name)), ("object", .objectPath(object))]
  }
}
