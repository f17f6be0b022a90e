// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
  name: "focusd",
  products: [
    .executable(name: "focusd", targets: ["focusd"]),
    .executable(name: "focusctl", targets: ["focusctl"]),
    .library(name: "DBus", targets: ["DBus", "DBusTypes"]),
    .library(name: "FocusKit", targets: ["FocusKit"]),
  ],
  targets: [
    .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

    .target(name: "DBusTypes", swiftSettings: strict),
    .target(name: "DBus", dependencies: ["CDBus", "CExpat", "CLinux", "DBusTypes"], swiftSettings: strict),
    .target(name: "FocusModel", dependencies: ["DBusTypes"], swiftSettings: strict),
    .target(
      name: "FocusService", dependencies: ["CSQLite", "DBus", "DBusTypes", "FocusModel"],
      swiftSettings: strict),
    .target(name: "FocusKit", dependencies: ["DBus", "DBusTypes"], swiftSettings: strict),
    .executableTarget(
      name: "NumberedFields", dependencies: ["FocusKit"], path: "Sources/Examples/NumberedFields", swiftSettings: strict
    ),
    .executableTarget(
      name: "VolumeSlider", dependencies: ["FocusKit"], path: "Sources/Examples/VolumeSlider", swiftSettings: strict),
    .executableTarget(
      name: "StatusLine", dependencies: ["FocusKit"], path: "Sources/Examples/StatusLine", swiftSettings: strict),
    .executableTarget(
      name: "focusd", dependencies: ["CLinux", "DBus", "FocusService"], swiftSettings: strict),
    .executableTarget(
      name: "focusctl", dependencies: ["CLinux", "DBus", "DBusTypes"], swiftSettings: strict),

    .testTarget(
      name: "FocusctlTests", dependencies: ["DBus", "DBusTypes", "TestSupport", "focusctl"], swiftSettings: strict),
    .testTarget(name: "FocusModelTests", dependencies: ["DBusTypes", "FocusModel"], swiftSettings: strict),
    .target(
      name: "TestSupport", dependencies: ["DBusTypes"], path: "Tests/TestSupport",
      resources: [.copy("Resources")], swiftSettings: strict),
    .testTarget(
      name: "DBusTypesTests", dependencies: ["DBusTypes", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "DBusTests", dependencies: ["CDBus", "DBus", "DBusTypes", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "FocusKitTests", dependencies: ["DBus", "DBusTypes", "FocusKit", "TestSupport", "focusd"],
      swiftSettings: strict),
    .testTarget(
      name: "SystemdTests", dependencies: ["TestSupport", "focusd", "focusctl"], exclude: ["user-manager"],
      swiftSettings: strict),
    .testTarget(
      name: "SceneTests", dependencies: ["focusd", "focusctl", "DBus", "DBusTypes", "TestSupport"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
