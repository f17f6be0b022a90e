internal import DBusTypes

/// What the user's `focusd.conf` says of one program: `focusd.conf(5)`.
package struct Settings: Equatable, Sendable {
  private var values: [String: [String]] = [:]

  /// No settings.
  package init() {}

  /// The names that a list has, in order.
  package func names(_ key: SettingsSection.Key) -> [String] { values[key.name] ?? [] }

  /// The value of a switch; nil if the file has none.
  package func isOn(_ key: SettingsSection.Key) -> Bool? { values[key.name]?.last.flatMap(SettingsSection.truth) }

  /// The value that was given last; nil if the file has none.
  package func value(_ key: SettingsSection.Key) -> String? { values[key.name]?.last }

  /// How many problems of a file are told.
  private static let toldProblems = 20

  /// The settings of `section` in `file`; what is wrong there goes to `report`, a line each, and counts as not written.
  package static func read(
    _ section: SettingsSection, from file: SettingsFile = .user, report: (String) -> Void
  ) -> Settings {
    var settings = Settings()
    let path = file.path ?? ""
    let text: SettingsText
    do throws(SettingsFile.Refusal) {
      guard let bytes = try file.contents() else { return settings }
      text = SettingsText(bytes)
    } catch {
      report("\(path) \(error), and is ignored")
      return settings
    }
    let problems = text.problems + unknownSections(in: text) + settings.take(text, section)
    let ordered = problems.sorted { $0.line < $1.line }
    for problem in ordered.prefix(toldProblems) { report("\(path):\(problem.line): \(problem.text)") }
    if ordered.count > toldProblems { report("\(path): \(ordered.count - toldProblems) more lines are wrong") }
    return settings
  }

  private static func unknownSections(in text: SettingsText) -> [SettingsText.Problem] {
    let known = SettingsSection.all.map(\.name)
    return text.sections.filter { !known.contains($0.name) }.map { section in
      let all = known.map { "[\($0)]" }.joined(separator: ", ")
      return .init(line: section.line, text: "unknown section [\(section.name.excerpt)]: expected \(all)")
    }
  }

  /// Takes what is assigned in `section`, and returns what is wrong with it.
  private mutating func take(_ text: SettingsText, _ section: SettingsSection) -> [SettingsText.Problem] {
    var problems: [SettingsText.Problem] = []
    for each in text.assignments where each.section == section.name {
      guard let key = section.keys.first(where: { $0.name == each.key }) else {
        let all = section.keys.map(\.name).joined(separator: ", ")
        problems.append(
          .init(
            line: each.line,
            text: "unknown key '\(each.key.excerpt)' in [\(section.name)]: expected \(all)"))
        continue
      }
      // As in systemd's files, nothing takes back what was assigned before.
      if each.value.isEmpty {
        values[key.name] = nil
      } else if let expected = key.refusal(of: each.value) {
        problems.append(
          .init(line: each.line, text: "'\(each.value.excerpt)' is not valid for \(key.name): \(expected)")
        )
      } else {
        values[key.name, default: []].append(each.value)
      }
    }
    return problems
  }
}

/// A section of `focusd.conf`, and the keys that it may have.
package struct SettingsSection: Sendable {
  /// A key, and what its value may be.
  package struct Key: Sendable {
    fileprivate enum Kind {
      case names
      case truth
      case choice([String])
    }

    package let name: String
    fileprivate let kind: Kind

    /// Programs that a bridge leaves out; repeated.
    package static let ignore = Key(name: "Ignore", kind: .names)
    /// Programs whose texts are secrets; repeated.
    package static let secret = Key(name: "Secret", kind: .names)
    /// Whether terminals show their text.
    package static let terminals = Key(name: "Terminals", kind: .truth)
    /// Whether accessibility is turned on.
    package static let enable = Key(name: "Enable", kind: .truth)
    /// What tells of windows.
    package static let source = Key(
      name: "Source", kind: .choice(["sway", "hyprland", "niri", "wayland", "gnome", "kwin", "x11", "i3"]))

    /// What would be right; nil if `value` is.
    fileprivate func refusal(of value: String) -> String? {
      switch kind {
      // Quoted, as a shell would have it, it would match no program.
      case .names: value.hasPrefix("\"") || value.hasPrefix("'") ? "expected a name without quotation marks" : nil
      case .truth: SettingsSection.truth(value) == nil ? "expected yes or no" : nil
      case .choice(let choices): choices.contains(value) ? nil : "expected \(choices.joined(separator: ", "))"
      }
    }
  }

  package let name: String
  package let keys: [Key]

  package static let windows = SettingsSection(name: "windows", keys: [.ignore, .source])
  package static let accessibility = SettingsSection(
    name: "accessibility", keys: [.ignore, .secret, .terminals, .enable])
  package static let players = SettingsSection(name: "players", keys: [.ignore])
  package static let menus = SettingsSection(name: "menus", keys: [.ignore])

  package static let all = [windows, accessibility, players, menus]

  /// A truth value as systemd reads it.
  fileprivate static func truth(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "1", "yes", "y", "true", "t", "on": true
    case "0", "no", "n", "false", "f", "off": false
    default: nil
    }
  }
}
