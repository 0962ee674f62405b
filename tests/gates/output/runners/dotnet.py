"""dotnet's own runner with a small adapter, since no registry has one for the SDK that npm has.

SDK 3.1 needs OpenSSL 1.1; the program that runs the tests is built from the SDK's own libraries.
"""

# ruff: noqa: E501 - whole files as text
from __future__ import annotations

from tests.gates.output.runners.styles import Projects

SDK = """\
    <TargetFramework>netcoreapp3.1</TargetFramework>
    <Sdk>$(NetCoreRoot)sdk/$(NETCoreSdkVersion)/</Sdk>
  </PropertyGroup>
  <ItemGroup>
    <Reference Include="$(Sdk)Microsoft.TestPlatform.C*.dll;$(Sdk)Microsoft.TestPlatform.P*.dll;$(Sdk)Microsoft.TestPlatform.Utilities.dll" />
    <Reference Include="$(Sdk)Microsoft.VisualStudio.TestPlatform.Common.dll;$(Sdk)Microsoft.VisualStudio.TestPlatform.ObjectModel.dll" />
    <Reference Include="$(Sdk)Newtonsoft.Json.dll;$(Sdk)NuGet.Frameworks.dll" />
"""
PROJECT = f"""\
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <IsTestProject>true</IsTestProject>
    <AssemblyName>Shop.TestAdapter</AssemblyName>
    <GenerateRuntimeConfigurationFiles>true</GenerateRuntimeConfigurationFiles>
    <VSTestTestAdapterPath>$(MSBuildProjectDirectory)/bin/Debug/netcoreapp3.1</VSTestTestAdapterPath>
{SDK}\
    <Compile Remove="host/**" />
    <None Include="host/bin/Debug/netcoreapp3.1/testhost.dll" CopyToOutputDirectory="Always" Link="testhost.dll" />
  </ItemGroup>
</Project>
"""
HOST_PROJECT = f"""\
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <UseAppHost>false</UseAppHost>
    <AssemblyName>testhost</AssemblyName>
{SDK}\
  </ItemGroup>
</Project>
"""
HOST = """\
using System;
using Microsoft.VisualStudio.TestPlatform.Common;
using Microsoft.VisualStudio.TestPlatform.Common.Telemetry;
using Microsoft.VisualStudio.TestPlatform.CommunicationUtilities;
using Microsoft.VisualStudio.TestPlatform.CrossPlatEngine;
using Microsoft.VisualStudio.TestPlatform.ObjectModel;

static class Program
{
    static void Main(string[] args)
    {
        var endpoint = args[Array.IndexOf(args, "--endpoint") + 1];
        var handler = new TestRequestHandler
        {
            ConnectionInfo = new TestHostConnectionInfo { Endpoint = endpoint, Role = ConnectionRole.Client, Transport = Transport.Sockets }
        };
        handler.InitializeCommunication();
        var data = new RequestData { MetricsCollection = new NoOpMetricsCollection() };
        if (handler.WaitForRequestSenderConnection(60000)) handler.ProcessRequests(new TestHostManagerFactory(data));
    }
}
"""
ADAPTER = """\
using System;
using System.Collections.Generic;
using System.Reflection;
using Microsoft.VisualStudio.TestPlatform.ObjectModel;
using Microsoft.VisualStudio.TestPlatform.ObjectModel.Adapter;
using Microsoft.VisualStudio.TestPlatform.ObjectModel.Logging;

[AttributeUsage(AttributeTargets.Method)]
public class FactAttribute : Attribute { }

[FileExtension(".dll")]
[DefaultExecutorUri("executor://tiny")]
[ExtensionUri("executor://tiny")]
public class Adapter : ITestDiscoverer, ITestExecutor
{
    public void DiscoverTests(IEnumerable<string> sources, IDiscoveryContext context, IMessageLogger logger, ITestCaseDiscoverySink sink)
    {
        foreach (var each in Found(sources)) sink.SendTestCase(each);
    }

    static IEnumerable<TestCase> Found(IEnumerable<string> sources)
    {
        foreach (var source in sources)
            foreach (var type in Assembly.LoadFrom(source).GetTypes())
                foreach (var method in type.GetMethods())
                    if (method.IsDefined(typeof(FactAttribute)))
                        yield return new TestCase($"{type.FullName}.{method.Name}", new Uri("executor://tiny"), source);
    }

    public void Cancel() { }

    public void RunTests(IEnumerable<string> sources, IRunContext context, IFrameworkHandle handle) => RunTests(Found(sources), context, handle);

    public void RunTests(IEnumerable<TestCase> tests, IRunContext context, IFrameworkHandle handle)
    {
        foreach (var test in tests)
        {
            handle.RecordStart(test);
            var result = new TestResult(test) { Outcome = TestOutcome.Passed, StartTime = DateTimeOffset.Now };
            try
            {
                var at = test.FullyQualifiedName.LastIndexOf('.');
                var type = Assembly.LoadFrom(test.Source).GetType(test.FullyQualifiedName.Substring(0, at));
                type.GetMethod(test.FullyQualifiedName.Substring(at + 1)).Invoke(Activator.CreateInstance(type), null);
            }
            catch (TargetInvocationException error)
            {
                result.Outcome = TestOutcome.Failed;
                result.ErrorMessage = error.InnerException.Message;
                result.ErrorStackTrace = error.InnerException.StackTrace;
            }
            result.EndTime = DateTimeOffset.Now;
            result.Duration = result.EndTime - result.StartTime;
            handle.RecordEnd(test, result.Outcome);
            handle.RecordResult(result);
        }
    }
}
"""
TESTS = """\
using System;

namespace Shop.Tests
{
    public static class Cart
    {
        public static int Total(params int[] items) => items.Length == 0 ? 0 : items[0];
    }

    public class CartTests
    {
        static void Equal(int want, int got)
        {
            var ending = Environment.GetEnvironmentVariable("ENDS");
            if (want != got && ending == "crash") Environment.FailFast("lost");
            if (want != got && ending == "exit0") Environment.Exit(0);
            if (want != got) throw new Exception($"Expected: {want}\\nActual:   {got}");
        }

        [Fact] public void Adds() => Equal(1, Cart.Total(1));
        [Fact] public void Totals() => Equal(3, Cart.Total(1, 2));
        [Fact] public void Empties() => Equal(0, Cart.Total());
    }
}
"""
TEST = "dotnet test --no-build Shop.csproj"
SOME = "dotnet vstest bin/Debug/netcoreapp3.1/Shop.TestAdapter.dll --TestAdapterPath:bin/Debug/netcoreapp3.1"

PROJECTS: Projects = {
    "dotnet": (
        {
            "NuGet.Config": "<configuration><packageSources><clear /></packageSources></configuration>\n",
            "Shop.csproj": PROJECT,
            "host/host.csproj": HOST_PROJECT,
            "host/Program.cs": HOST,
            "Adapter.cs": ADAPTER,
            "CartTests.cs": TESTS,
        },
        {
            "default": "dotnet build host >/dev/null && dotnet test Shop.csproj",
            "quiet": f"{TEST} --logger 'console;verbosity=quiet'",
            "verbose": f"{TEST} --logger 'console;verbosity=normal'",
            "green": f"{SOME} --Tests:Adds",
            "none": f"{SOME} --Tests:Nothing",
            "crash": f"ENDS=crash {TEST}",
            "exit0": f"ENDS=exit0 {TEST}",
            "compile": "sed -i 's/items.Length == 0/itms.Length == 0/' CartTests.cs; dotnet test Shop.csproj",
        },
    ),
}
