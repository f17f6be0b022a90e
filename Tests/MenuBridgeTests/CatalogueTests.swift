import Foundation
import MenuBridge
import TestSupport
import Testing

/// Catalogues written here, and read as those of the toolkits.
@Suite struct CatalogueTests {
  /// Makes `bytes` the catalogue at `path` for the time of `body`.
  private func with<Result>(_ bytes: [UInt8], at path: String, _ body: (String) throws -> Result) throws -> Result {
    try CatalogueFolder.with([path: bytes], body)
  }

  /// The commands of one item with this label, beside those that a menu of a document has.
  private func commands(_ label: String, _ locale: String, keys: String = "", in root: String) -> [String] {
    let item = MenuItem(id: "the item", menus: ["a menu"], label: label, accelerator: keys)
    let found = Recognition(catalogue: Catalogue.installed(locale: locale, root: root)).commands(in: [item])
    return found.keys.map { String($0.dropFirst("org.focusd.".count)) }
  }

  private static let undo = [("Stock label\u{4}_Undo", "_Rückgängig"), ("keyboard label\u{4}Redo", "Rücktaste")]

  @Test(arguments: [true, false], ["de_DE.UTF-8", "de_AT@euro", "de", "xx:de:fr"])
  func gettextTranslates(isBigEndian: Bool, locale: String) throws {
    try with(MOFile.bytes(Self.undo, isBigEndian: isBigEndian), at: "locale/de/LC_MESSAGES/gtk30.mo") { root in
      #expect(commands("Rückgängig", locale, keys: "Ctrl+Z", in: root) == ["Edit.Undo"])
      #expect(commands("RÜCKGÄNGIG…", locale, keys: "Ctrl+Z", in: root) == ["Edit.Undo"])
      #expect(commands("Undo", locale, in: root) == ["Edit.Undo"])
      #expect(commands("Rücktaste", locale, in: root).isEmpty)
    }
  }

  /// In French it is that of Undo and of Cancel.
  @Test func aTranslatedWordForUndoTellsBesideOthersOfTexts() throws {
    try with(MOFile.bytes([("_Undo", "A_nnuler"), ("_Redo", "_Rétablir")]), at: "locale/fr/LC_MESSAGES/gtk30.mo") {
      root in
      #expect(commands("Annuler", "fr", in: root).isEmpty)
      #expect(commands("Annuler", "fr", keys: "Ctrl+Z", in: root) == ["Edit.Undo"])
      let items = ["Annuler", "Rétablir"].map { MenuItem(id: $0, menus: ["Édition"], label: $0) }
      let found = Recognition(catalogue: Catalogue.installed(locale: "fr", root: root)).commands(in: items)
      #expect(Set(found.keys) == ["org.focusd.Edit.Undo", "org.focusd.Edit.Redo"])
    }
  }

  /// In Chinese, as it is written in Taiwan, Quit is Eject; other words mean nothing else.
  @Test func aWordForSomethingElseTellsWithTheKeysAlone() throws {
    let messages = [("_Quit", "退出"), ("_Eject", "退出(_E)"), ("_Preferences", "偏好設定"), ("_Properties", "屬性")]
    try with(MOFile.bytes(messages), at: "locale/zh_TW/LC_MESSAGES/gtk30.mo") { root in
      #expect(commands("退出", "zh_TW", in: root).isEmpty)
      #expect(commands("退出(E)", "zh_TW", in: root).isEmpty)
      #expect(commands("退出", "zh_TW", keys: "Ctrl+Q", in: root) == ["Application.Quit"])
      #expect(commands("Quit", "zh_TW", in: root) == ["Application.Quit"])
      #expect(commands("偏好設定", "zh_TW", in: root) == ["Application.Preferences"])
    }
  }

  @Test func qtTranslates() throws {
    let messages = [("QLineEdit", "&Undo", "&Rückgängig"), ("QShortcut", "Redo", "Rücktaste")]
    try with(QMFile.bytes(messages), at: "qt6/translations/qtbase_de.qm") { root in
      #expect(commands("Rückgängig", "de_DE.UTF-8", keys: "Ctrl+Z", in: root) == ["Edit.Undo"])
      #expect(commands("Rücktaste", "de_DE.UTF-8", in: root).isEmpty)
    }
  }

  @Test func aLabelOfTwoCommandsIsNone() throws {
    let messages = [("_Copy", "X"), ("_Paste", "X")]
    try with(MOFile.bytes(messages), at: "locale/de/LC_MESSAGES/gtk30.mo") { root in
      #expect(commands("X", "de", in: root).isEmpty)
    }
  }

  @Test(arguments: ["../../de", "de/../de", "C", "C.UTF-8", "POSIX", "", "fr_FR.UTF-8", ".", "..", "@"])
  func otherLocalesHaveNoTranslation(locale: String) throws {
    try with(MOFile.bytes(Self.undo), at: "locale/de/LC_MESSAGES/gtk30.mo") { root in
      #expect(commands("Rückgängig", locale, in: root).isEmpty)
      #expect(commands("Undo", locale, in: root) == ["Edit.Undo"])
    }
  }

  @Test(
    arguments: [
      (["LANG": "de_DE.UTF-8"], "de_DE.UTF-8"), (["LANG": "C", "LANGUAGE": "de"], "C"), ([:], "C"),
      (["LANG": "en_US", "LANGUAGE": "de:fr", "LC_MESSAGES": ""], "de:fr"), (["LANG": "en_US", "LC_ALL": "de"], "de"),
    ] as [([String: String], String)])
  func localeOfAnEnvironment(environment: [String: String], locale: String) {
    #expect(Catalogue.locale { environment[$0] } == locale)
  }

  /// Every catalogue that is cut off, and many that have one byte changed: nothing but what is left of them is read.
  @Test(arguments: ["locale/de/LC_MESSAGES/gtk30.mo", "qt5/translations/qtbase_de.qm"])
  func anyBytesAreRead(path: String) throws {
    let whole =
      path.hasSuffix(".mo")
      ? MOFile.bytes(Self.undo + [("Cu_t\0plural", "_Ausschneiden\0viele")])
      : QMFile.bytes([("QLineEdit", "&Undo", "&Rückgängig"), ("", "Cu&t", "&Ausschneiden")])
    var generator = SystemRandomNumberGenerator()
    for length in 0..<whole.count {
      try with(Array(whole.prefix(length)), at: path) { root in _ = commands("Rückgängig", "de", in: root) }
      for value in [0, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &generator)] {
        var changed = whole
        changed[length] = value
        try with(changed, at: path) { root in _ = commands("Rückgängig", "de", in: root) }
      }
    }
    try with(whole, at: path) { root in
      #expect(commands("Ausschneiden", "de", keys: "Ctrl+X", in: root) == ["Edit.Cut"])
    }
  }

  @Test func aFileThatIsNoFileIsSkipped() throws {
    try with(MOFile.bytes(Self.undo), at: "locale/de/LC_MESSAGES/gtk40.mo") { root in
      let folder = "\(root)/locale/de/LC_MESSAGES"
      try FileManager.default.createDirectory(atPath: "\(folder)/gtk30.mo", withIntermediateDirectories: true)
      try #require(mkfifo("\(folder)/libadwaita.mo", 0o600) == 0)
      #expect(commands("Rückgängig", "de", keys: "Ctrl+Z", in: root) == ["Edit.Undo"])
    }
  }

  /// LibreOffice's Repeat has GTK's label of Redo in German.
  @Test func theAcceleratorPrecedesATranslatedLabel() throws {
    try with(MOFile.bytes([("_Redo", "_Wiederholen")]), at: "locale/de/LC_MESSAGES/gtk30.mo") { root in
      let items = [
        ("Kopieren", "Ctrl+C"), ("Ausschneiden", "Ctrl+X"), ("Einfügen", "Ctrl+V"), ("Wiederholen", "Ctrl+Shift+Y"),
        ("Wiederherstellen: Eingabe", "Ctrl+Y"),
      ].map { MenuItem(id: $0.0, menus: ["Bearbeiten"], label: $0.0, accelerator: $0.1) }
      let found = Recognition(catalogue: Catalogue.installed(locale: "de", root: root)).commands(in: items)
      #expect(found["org.focusd.Edit.Redo"] == "Wiederherstellen: Eingabe")
    }
  }
}
