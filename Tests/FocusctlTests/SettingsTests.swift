import Foundation
import Glibc
import ProgramSupport
import Testing

/// What programs make of `focusd.conf`.
@Suite struct SettingsTests {
  @Test(
    arguments: [
      ("", [], []), ("[a]\nK=v\n", ["1 a.K=v"], []), ("[a]\r\nK=v\r\n", ["1 a.K=v"], []),
      ("# c\n ; c\n\n [a] \n\t K \t=\t v w  \n", ["4 a.K=v w"], []), ("[a]\nK=\n", ["1 a.K="], []),
      ("[a]\nK=v=w #x\n", ["1 a.K=v=w #x"], []), ("[a]\nK=v \\\n  w\nL=x", ["1 a.K=v    w", "3 a.L=x"], []),
      ("[a]\nK=v\\\n# c\n;c\nw\n", ["1 a.K=v w"], []), ("[a]\nK=v\\", ["1 a.K=v"], []),
      ("[a][b]\nK=v", ["1 a][b.K=v"], []),
      ("K=v\n[a]\nL=w", ["2 a.L=w"], ["1 'K' comes before any section, such as [windows]"]),
      (
        "[a\n[]\n=v\nK\n[b]\nK=v", ["5 b.K=v"],
        [
          "1 '[a' is not a section, such as [windows]", "2 '[]' is not a section, such as [windows]",
          "3 '=v' is not KEY=VALUE, [SECTION] or a comment", "4 'K' is not KEY=VALUE, [SECTION] or a comment",
        ]
      ),
      (
        "[a]\nK=\0\nL=\u{1}\nM\u{1b}", ["2 a.L=\u{1}"],
        [
          "2 the line is not text in UTF-8", "4 'M\\u{1B}' is not KEY=VALUE, [SECTION] or a comment",
        ]
      ),
      ("[é]\nÄ=ö", ["1 é.Ä=ö"], []), ("\u{feff}[a]\nK=v", ["1 a.K=v"], []),
    ] as [(String, [String], [String])])
  func aFileHasAssignmentsAndProblems(text: String, assignments: [String], problems: [String]) {
    let read = SettingsText(Array(text.utf8))
    #expect(read.assignments.map { "\($0.line - 1) \($0.section).\($0.key)=\($0.value)" } == assignments)
    #expect(read.problems.map { "\($0.line) \($0.text)" } == problems)
  }

  @Test func bytesThatAreNoTextAreAProblem() {
    let read = SettingsText(Array("[a]\nK=".utf8) + [0xff, 0xfe, 0x0a] + Array("L=w".utf8))
    #expect(read.assignments.map(\.key) == ["L"] && read.problems.map(\.line) == [2])
  }

  /// The settings of a section in a file with `text`, and what is said of it, without the file's name.
  private func settings(_ section: SettingsSection, _ text: String) throws -> (settings: Settings, said: [String]) {
    try Self.withDirectory { directory in
      let path = directory + "/focusd.conf"
      try Self.write(text, path)
      var said: [String] = []
      let settings = Settings.read(section, from: SettingsFile(path: path)) { said.append($0) }
      return (settings, said.map { $0.replacing(path, with: "") })
    }
  }

  @Test func aSectionHasItsOwn() throws {
    let text = """
      [windows]
      Ignore=rofi
      Ignore=Some Bar
      Source=x11
      [accessibility]
      Ignore=gimp
      Secret=vault
      Terminals=yes
      Enable=off
      [players]
      Ignore=a
      Ignore=
      Ignore=b
      [windows]
      Ignore=late
      """
    let windows = try settings(.windows, text)
    #expect(windows.settings.names(.ignore) == ["rofi", "Some Bar", "late"] && windows.said.isEmpty)
    #expect(windows.settings.value(.source) == "x11")
    let accessibility = try settings(.accessibility, text)
    #expect(accessibility.settings.names(.ignore) == ["gimp"] && accessibility.settings.names(.secret) == ["vault"])
    #expect(accessibility.settings.isOn(.terminals) == true && accessibility.settings.isOn(.enable) == false)
    #expect(try settings(.players, text).settings.names(.ignore) == ["b"])
    #expect(try settings(.menus, text).settings == Settings())
  }

  @Test func whatIsUnknownIsNamedWithItsLineAndTheRestCounts() throws {
    let (settings, said) = try settings(
      .accessibility,
      """
      [accessibility]
      Ingore=gimp
      Terminals=perhaps
      Enable=
      nonsense
      Ignore=vim
      Ignore="gedit"
      Secret='a vault'
      [windos]
      Ignore=rofi
      [windows]
      Unknown=elsewhere
      Source=xi3
      """)
    #expect(settings.names(.ignore) == ["vim"] && settings.names(.secret).isEmpty && settings.isOn(.terminals) == nil)
    #expect(
      said == [
        ":2: unknown key 'Ingore' in [accessibility]: expected Ignore, Secret, Terminals, Enable",
        ":3: 'perhaps' is not valid for Terminals: expected yes or no",
        ":5: 'nonsense' is not KEY=VALUE, [SECTION] or a comment",
        ":7: '\"gedit\"' is not valid for Ignore: expected a name without quotation marks",
        ":8: ''a vault'' is not valid for Secret: expected a name without quotation marks",
        ":9: unknown section [windos]: expected [windows], [accessibility], [players], [menus]",
      ])
    let windows = try self.settings(.windows, "[windows]\nSource=xi3")
    #expect(windows.settings == Settings() && windows.said.count == 1 && windows.said[0].contains("'xi3' is not valid"))
  }

  @Test func manyProblemsAreFewLines() throws {
    let long = String(repeating: "x", count: 10_000)
    let (_, said) = try settings(.menus, "[menus]\n" + String(repeating: "\(long)=1\n", count: 90))
    #expect(said.count == 21 && said.allSatisfy { $0.utf8.count < 200 } && said.last == ": 70 more lines are wrong")
  }

  /// Writes a file of the user's alone, whatever the umask of the process is meanwhile.
  private static func write(_ text: String, _ path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    chmod(path, 0o600)
  }

  private static func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appending(path: "focusd-settings-\(UUID().uuidString)")
      .path()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try body(directory)
  }

  /// What a test puts in the place of the file, and what is said of it.
  private static let places: [(String, @Sendable (String) throws -> Void, String?)] = [
    ("nothing", { _ in }, nil),
    ("a directory", { mkdir($0, 0o700) }, "is not a regular file"),
    ("a pipe", { mkfifo($0, 0o600) }, "is not a regular file"),
    ("a device", { symlink("/dev/zero", $0) }, "is not a regular file"),
    ("a link to nothing", { symlink("/nowhere/at/all", $0) }, "is a link to a file that is not there"),
    ("a link to itself", { symlink($0, $0) }, "cannot be read"),
    (
      "a line of 1 GB",
      { path in
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        truncate(path, 1 << 30)
      }, "has more than 1 MiB"
    ),
    (
      "one that everybody may write",
      { path in
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        chmod(path, 0o646)
      }, "can be written by every user"
    ),
  ]

  @Test(arguments: places.indices) func onlyAFileOfTheUserIsRead(index: Int) throws {
    let (_, make, expected) = Self.places[index]
    try Self.withDirectory { directory in
      let path = directory + "/focusd.conf"
      try make(path)
      var said: [String] = []
      #expect(Settings.read(.menus, from: SettingsFile(path: path)) { said.append($0) } == Settings())
      #expect(said.count == (expected == nil ? 0 : 1), "\(said)")
      if let expected { #expect(said.first?.contains(expected) == true, "\(said)") }
    }
  }

  /// Only root may give files away, and reads what it may not.
  @Test(.enabled(if: geteuid() == 0, "needs root to give a file away")) func anothersFileIsNotRead() throws {
    try Self.withDirectory { directory in
      let path = directory + "/focusd.conf"
      try Self.write("[menus]\nIgnore=x", path)
      #expect(Settings.read(.menus, from: SettingsFile(path: path)) { _ in }.names(.ignore) == ["x"])
      chown(path, 65_534, 65_534)
      var said: [String] = []
      #expect(Settings.read(.menus, from: SettingsFile(path: path)) { said.append($0) } == Settings())
      #expect(said == ["\(path) belongs to another user, and is ignored"])
    }
  }

  @Test(
    arguments: [
      ([:], nil), (["HOME": "/h"], "/h/.config/focusd/focusd.conf"),
      (["HOME": "/h", "XDG_CONFIG_HOME": "/c"], "/c/focusd/focusd.conf"),
      (["HOME": "/h", "XDG_CONFIG_HOME": "c"], "/h/.config/focusd/focusd.conf"), (["HOME": "h"], nil),
      (["HOME": "/h", "CONFIGURATION_DIRECTORY": "/s/focusd:/t"], "/s/focusd/focusd.conf"),
    ] as [([String: String], String?)])
  func theEnvironmentNamesTheFile(variables: [String: String], path: String?) {
    #expect(SettingsFile.userPath { variables[$0] } == path)
  }

  @Test(arguments: 0..<40) func anythingIsRead(seed: UInt64) {
    var random = SystemRandomNumberGenerator()
    let pieces = ["[", "]", "=", "\n", "\\\n", "#", ";", "a", "Ignore", "menus", "\0", "é", " ", "\r"].map {
      Array($0.utf8)
    }
    let bytes = (0..<500).flatMap { _ in pieces.randomElement(using: &random) ?? [UInt8.random(in: 0...255)] }
    let read = SettingsText(bytes)
    #expect(read.assignments.allSatisfy { $0.line > 0 && !$0.key.isEmpty } && read.problems.allSatisfy { $0.line > 0 })
  }
}
