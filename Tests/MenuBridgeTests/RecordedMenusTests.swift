import Foundation
import MenuBridge
import Testing

/// What is recognised in the menus of real programs, in English and German, as `.ci/record-menus` recorded them.
@Suite struct RecordedMenusTests {
  /// The menus of one program, told in one way: `mousepad.de.gtk`.
  struct Recording: Sendable, CustomTestStringConvertible {
    let name: String
    var language: Substring { parts[1] }
    var way: Substring { parts[2] }
    var testDescription: String { name }

    private var parts: [Substring] { name.split(separator: ".") }

    func items() throws -> [MenuItem] {
      try RecordedMenusTests.lines("menus/\(name)").compactMap { line in
        let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        func word(_ index: Int) -> String { index < words.count ? words[index] : "" }
        let menus = word(0).isEmpty ? [] : word(0).components(separatedBy: " > ")
        let action = word(3).isEmpty ? nil : word(3)
        // The bridge offers no other action that is in no menu.
        if menus.isEmpty, !Recognition.standardActions.contains(Recognition.name(ofAction: action ?? "")) { return nil }
        let keys =
          switch way {
          case "gtk": Accelerator.shown(gtk: word(2))
          case "bar": Accelerator.shown(atspi: word(2))
          default: Accelerator.shown(qt: word(2))
          }
        return MenuItem(
          id: action ?? (menus + [word(1)]).joined(separator: " › "), menus: menus, label: word(1), accelerator: keys,
          isChecked: word(4).isEmpty ? nil : false, action: action)
      }
    }
  }

  private static let folder =
    Bundle.module.path(forResource: "commands", ofType: nil, inDirectory: "Resources").map {
      URL(filePath: $0).deletingLastPathComponent().path()
    } ?? ""

  private static func lines(_ name: String) throws -> [String] {
    try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private static let recordings: [Recording] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/menus")) ?? []
    return names.sorted().map(Recording.init)
  }()

  /// The commands of each recording with the items that they are; a person has looked at each.
  private static func expected() throws -> [String: [String: String]] {
    var commands: [String: [String: String]] = [:]
    var recording = ""
    for line in try lines("commands") {
      let words = line.split(separator: "\t").map(String.init)
      if words.count == 1 { recording = words[0] } else { commands[recording, default: [:]][words[0]] = words[1] }
    }
    return commands
  }

  /// The messages of the catalogues that had these menus' labels, as files.
  private static func catalogues(_ language: Substring) throws -> [String: [UInt8]] {
    let messages = try lines("catalogues.\(language)").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
    return Dictionary(grouping: messages) { $0[0] }.mapValues { messages in
      messages[0][0].hasSuffix(".mo")
        ? MOFile.bytes(messages.map { (($0[1].isEmpty ? "" : $0[1] + "\u{4}") + $0[2], $0[3]) })
        : QMFile.bytes(messages.map { ($0[1], $0[2], $0[3]) })
    }
  }

  private static func found(_ recording: Recording) throws -> [String: String] {
    let catalogue =
      recording.language == "en"
      ? Catalogue.empty
      : try CatalogueFolder.with(catalogues(recording.language)) {
        Catalogue.installed(locale: "\(recording.language).UTF-8", root: $0)
      }
    let found = Recognition(catalogue: catalogue).commands(in: try recording.items())
    return Dictionary(uniqueKeysWithValues: found.map { (String($0.key.dropFirst("org.focusd.".count)), $0.value) })
  }

  @Test(arguments: recordings) func theCommandsAreThese(recording: Recording) throws {
    let expected = try #require(try Self.expected()[recording.name])
    let found = try Self.found(recording)
    for (command, item) in found { #expect(expected[command] == item, "\(command)") }
    for (command, item) in expected { #expect(found[command] == item, "\(command)") }
  }

  @Test func thereAreEnoughPrograms() throws {
    for language in ["en", "de"] {
      let programs = Set(Self.recordings.filter { $0.language == language }.map { $0.name.prefix { $0 != "." } })
      #expect(programs.count >= 10, "\(language): \(programs)")
    }
    #expect(try Set(Self.expected().keys) == Set(Self.recordings.map(\.name)))
  }

  /// What deletes is never a standard command, whatever the program calls it.
  @Test(arguments: recordings) func nothingDeletes(recording: Recording) throws {
    for (command, item) in try Self.found(recording) {
      let words = item.lowercased()
      for word in ["delete", "trash", "löschen", "papierkorb", "kill"] {
        #expect(!words.contains(word), "\(command)")
      }
    }
  }
}
