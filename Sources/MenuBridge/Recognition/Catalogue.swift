import Glibc

/// The standard commands' labels in one language, as the catalogues of the toolkits translate them.
package struct Catalogue: Sendable {
  /// For each translated label, the standard commands that it stands for.
  private var commands: [String: Set<Int>] = [:]
  /// Translated labels that stand for something else as well.
  private var ambiguous: Set<String> = []

  /// English alone.
  package static let empty = Catalogue()

  private init() {}

  /// Reads the catalogues that are installed for `locale`.
  ///
  /// - Parameters:
  ///   - locale: As in the environment: `de_DE.UTF-8`, or several languages, the preferred one first: `de_AT:de:fr`.
  ///   - root: The directory with the folders `locale` and `qt5/translations`.
  /// - Returns: What the catalogues translate; English alone if there are none.
  package static func installed(locale: String, root: String = "/usr/share") -> Catalogue {
    var catalogue = Catalogue()
    let names = names(of: locale)
    for domain in domains {
      let paths = names.flatMap { name in
        ["locale", "locale-langpack"].map { "\(root)/\($0)/\(name)/LC_MESSAGES/\(domain.name).mo" }
      }
      for message in messages(inFirstOf: paths, GettextMessages.all) {
        catalogue.addLabel(message, mnemonic: domain.mnemonic)
      }
    }
    for folder in ["qt5/translations", "qt6/translations", "qt/translations"] {
      for message in messages(inFirstOf: names.map { "\(root)/\(folder)/qtbase_\($0).qm" }, QtMessages.all) {
        catalogue.addLabel(message, mnemonic: "&")
      }
    }
    return catalogue
  }

  /// The variables of an environment that say its language.
  package static let variables: Set<String> = ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"]

  /// The languages of `environment`, a program's, for `installed`; as gettext chooses them.
  package static func locale(of environment: (String) -> String?) -> String {
    func text(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    let locale = text("LC_ALL") ?? text("LC_MESSAGES") ?? text("LANG") ?? "C"
    return isUntranslated(locale) ? locale : text("LANGUAGE") ?? locale
  }

  /// The standard commands that `label`, as `MenuLabel` makes it plain, is a name of, in English or this language.
  func commands(label: String) -> Set<Int> {
    (commands[label] ?? []).union(StandardCommand.byLabel[label].map { [$0] } ?? [])
  }

  /// Whether `label`, a plain one, also stands for what is no standard command, in this language.
  func isAmbiguous(label: String) -> Bool { ambiguous.contains(label) }

  // MARK: Reading

  /// The catalogues that translate the usual labels, with what marks a mnemonic there.
  private static let domains: [(name: String, mnemonic: Unicode.Scalar)] =
    ["gtk30", "gtk40", "gtk20", "libadwaita"].map { ($0, "_") }
    + [
      "kconfigwidgets5", "kconfigwidgets6", "kxmlgui5", "kxmlgui6", "ktexteditor5", "ktexteditor6", "ktextwidgets5",
      "ktextwidgets6",
    ].map { ($0, "&") }

  /// The largest file that is read, in bytes; toolkits' own have less than a tenth of that.
  private static let largest = 8 << 20
  private static let mostNames = 32

  /// The messages of the first of `paths` that exists.
  private static func messages(
    inFirstOf paths: [String], _ all: (MessageBytes) -> [TranslatedMessage]
  ) -> [TranslatedMessage] {
    paths.lazy.compactMap(contents).first.map { all(MessageBytes(bytes: $0)) } ?? []
  }

  private mutating func addLabel(_ message: TranslatedMessage, mnemonic: Unicode.Scalar) {
    guard Self.isLabel(message.context) else { return }
    let source = MenuLabel.plain(message: message.source, mnemonic: mnemonic)
    let command = StandardCommand.byLabel[source]
    guard command != nil || StandardCommand.otherLabels.contains(source) else { return }
    let label = MenuLabel.plain(message: message.translation, mnemonic: mnemonic)
    guard !label.isEmpty else { return }
    if let command { commands[label, default: []].insert(command) } else { ambiguous.insert(label) }
  }

  /// Whether messages of `context` are labels, rather than names of keys or titles.
  private static func isLabel(_ context: String) -> Bool {
    !context.hasPrefix("@title") && context != "keyboard label" && context != "QShortcut"
  }

  private static func isUntranslated(_ locale: String) -> Bool {
    ["C", "POSIX"].contains(locale.prefix { $0 != "." })
  }

  /// The names that catalogues of `locale` may have, the most exact first: `de_DE@euro`, `de@euro`, `de_DE`, `de`.
  private static func names(of locale: String) -> [String] {
    var names: [String] = []
    for language in locale.split(separator: ":").prefix(mostNames) {
      // A language of another program is part of a path: nothing but a name may be in it.
      guard language.utf8.count <= mostNames, language.utf8.allSatisfy(isOfName), !isUntranslated(String(language))
      else { continue }
      let modifier = language.drop { $0 != "@" }
      let country = language.prefix { $0 != "." && $0 != "@" }
      let plain = country.prefix { $0 != "_" }
      for name in [country + modifier, plain + modifier, country, plain] where !names.contains(String(name)) {
        names.append(String(name))
      }
    }
    return names
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }

  /// The bytes of the regular file at `path`; nil if it does not exist, or if it is too large.
  private static func contents(of path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largest else {
      return nil
    }
    let size = Int(status.st_size)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, size - count)
        if got > 0 { count += got } else if got == 0 || errno != EINTR { break }
      }
    }
  }
}
