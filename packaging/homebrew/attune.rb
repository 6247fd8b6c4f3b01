# A formula for Homebrew on Linux. It has not been built: there is no release yet, and so neither URL
# nor hash. See docs/install.md, "Recipes for other channels".
class Attune < Formula
  desc "Tuning engine that searches for the best settings of a program"
  homepage "UNKNOWN"
  url "UNKNOWN/v0.1.0.tar.gz"
  sha256 "UNKNOWN"
  license "MIT"

  depends_on "boost" => :build
  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "eigen" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :build
  depends_on "sqlitecpp" => :build
  depends_on "cairo"
  depends_on "fmt"
  depends_on :linux
  depends_on "muparser"
  depends_on "nlopt"
  depends_on "openssl@3"
  depends_on "pcre2"
  depends_on "spdlog"
  depends_on "sqlite"
  depends_on "yaml-cpp"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_UNITY_BUILD=ON",
           "-DCMAKE_DISABLE_FIND_PACKAGE_gRPC=ON", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"x.yaml").write <<~YAML
      searchSpace: {x: {_type: uniform, _value: [0, 1]}}
      trialCommand: "echo result {x}"
      report: {regex: 'result (?<default>\\S+)'}
      maxTrialNumber: 3
    YAML
    assert_match "3 succeeded", shell_output("#{bin}/attune run x.yaml --seed 1 --quiet")
  end
end
